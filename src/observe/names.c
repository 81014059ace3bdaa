/* SPDX-License-Identifier: Apache-2.0 */
/* Names of agents, events and stall reasons, for people and traces. */
#include "machine/device.h"

static const char *const agent_names[WG_AGENT_COUNT] = {[WG_AGENT_CORE_B] = "B",
                                                        [WG_AGENT_CORE_NC] = "NC",
                                                        [WG_AGENT_CORE_T0] = "T0",
                                                        [WG_AGENT_CORE_T1] = "T1",
                                                        [WG_AGENT_CORE_T2] = "T2",
                                                        [WG_AGENT_THREAD0] = "thread 0",
                                                        [WG_AGENT_THREAD1] = "thread 1",
                                                        [WG_AGENT_THREAD2] = "thread 2",
                                                        [WG_AGENT_SYNC] = "Sync Unit",
                                                        [WG_AGENT_UNPACK0] = "Unpacker 0",
                                                        [WG_AGENT_UNPACK1] = "Unpacker 1",
                                                        [WG_AGENT_MATRIX] = "Matrix Unit",
                                                        [WG_AGENT_PACK] = "Packers",
                                                        [WG_AGENT_VECTOR] = "Vector Unit",
                                                        [WG_AGENT_SCALAR] = "Scalar Unit",
                                                        [WG_AGENT_CONFIG] = "Configuration Unit",
                                                        [WG_AGENT_MOVER] = "Mover",
                                                        [WG_AGENT_MISC] = "Miscellaneous Unit",
                                                        [WG_AGENT_REGIONS] = "memory regions",
                                                        [WG_AGENT_PUSHES] = "instruction pushes",
                                                        [WG_AGENT_NIU0] = "NIU 0",
                                                        [WG_AGENT_NIU1] = "NIU 1",
                                                        [WG_AGENT_HOST] = "host",
                                                        [WG_AGENT_LINK] = "Ethernet link"};

static const char *const event_names[WG_EV_COUNT] = {[WG_EV_PUSHED] = "pushed",
                                                     [WG_EV_EXPANDED] = "expanded",
                                                     [WG_EV_LOST] = "lost",
                                                     [WG_EV_STALL_BEGIN] = "stall",
                                                     [WG_EV_STALL_END] = "resume",
                                                     [WG_EV_ISSUED] = "issued",
                                                     [WG_EV_COMPLETED] = "completed",
                                                     [WG_EV_LATCHED] = "latched",
                                                     [WG_EV_RELEASED] = "released",
                                                     [WG_EV_SEMAPHORE] = "semaphore",
                                                     [WG_EV_MUTEX] = "mutex",
                                                     [WG_EV_BANK] = "bank",
                                                     [WG_EV_TOUCH] = "touch",
                                                     [WG_EV_TOUCH_L1] = "touch-l1",
                                                     [WG_EV_CORE_RETIRE] = "retire",
                                                     [WG_EV_CORE_REQUEST] = "request",
                                                     [WG_EV_CORE_RESPONSE] = "response",
                                                     [WG_EV_CORE_STATE] = "core",
                                                     [WG_EV_DELAYED] = "delayed",
                                                     [WG_EV_FINDING] = "finding",
                                                     [WG_EV_CORE_CONSUMED] = "consumed",
                                                     [WG_EV_CORE_FENCE] = "fence",
                                                     [WG_EV_TRACKED] = "tracked",
                                                     [WG_EV_HOST] = "host",
                                                     [WG_EV_NOC_SENT] = "noc-sent",
                                                     [WG_EV_NOC_ARRIVED] = "noc-arrived",
                                                     [WG_EV_UNMET] = "unmet",
                                                     [WG_EV_LINK_COMMAND] = "link-command",
                                                     [WG_EV_LINK_SENT] = "link-sent",
                                                     [WG_EV_LINK_ARRIVED] = "link-arrived"};

static const struct {
    const char *name, *text;
} stalls[WG_STALL_COUNT] = {
#define WG_STALL(id, ended_by, text) {#id, text},
#include <waitgate/stalls.def>
#undef WG_STALL
};

static const char *const sites[WG_SITE_COUNT] = {[WG_SITE_ACCEPT] = "accept",
                                                 [WG_SITE_COMPLETE] = "complete",
                                                 [WG_SITE_TRAVEL] = "travel",
                                                 [WG_SITE_FIFO_TAKE] = "take",
                                                 [WG_SITE_NOC_HOP] = "hop"};

const char *wg_site_name(unsigned site) { return site < WG_SITE_COUNT ? sites[site] : "unknown"; }
const char *wg_agent_name(unsigned agent) { return agent < WG_AGENT_COUNT ? agent_names[agent] : "nobody"; }
const char *wg_agent_name_of(const wg_device *dev, unsigned agent)
{
    return dev && agent < dev->tile->spec->cores ? dev->tile->spec->core[agent].name : wg_agent_name(agent);
}
const char *wg_event_name(unsigned kind) { return kind < WG_EV_COUNT ? event_names[kind] : "unknown"; }
const char *wg_stall_name(unsigned reason) { return reason < WG_STALL_COUNT ? stalls[reason].name : "UNKNOWN"; }
const char *wg_stall_text(unsigned reason) { return reason < WG_STALL_COUNT ? stalls[reason].text : "unknown"; }
