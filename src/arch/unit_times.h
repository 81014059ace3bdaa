/* SPDX-License-Identifier: Apache-2.0 */
/* The values of unit_times.def: WG_TIME_SCALAR_SEND … */
#ifndef WG_UNIT_TIMES_H
#define WG_UNIT_TIMES_H

enum {
#define UNIT_TIME(name, value, what, source) WG_TIME_##name = (value),
#include "arch/unit_times.def"
#undef UNIT_TIME
};

#endif
