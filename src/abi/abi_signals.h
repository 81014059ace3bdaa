/* SPDX-License-Identifier: Apache-2.0 */
/* SIGINT and SIGTERM of the host's process, which ask for a report. */
#ifndef WG_ABI_SIGNALS_H
#define WG_ABI_SIGNALS_H

#include <signal.h>

extern volatile sig_atomic_t wg_abi_signalled; /* the number of a signal that came; 0: none */

void wg_abi_take_signals(void);      /* unless the host handles or ignores them */
void wg_abi_give_signals_back(void); /* they have their normal effect again */

#endif
