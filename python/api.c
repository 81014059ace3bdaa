/* SPDX-License-Identifier: Apache-2.0 */
/* What Python sees: the public headers. */
#include <waitgate/tools.h>
#include <waitgate/chip.h>
#include <waitgate/cluster.h>
#include <waitgate/explore.h>
