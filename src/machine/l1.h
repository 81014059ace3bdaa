/* SPDX-License-Identifier: Apache-2.0 */
/*
 * L1: contents, ports and banks.
 *
 * Contents are read and written at once, in the cycle the caller says it happens. Time is separate: a
 * client asks for a port in a cycle, and gets it or not.
 *
 *     clients ── muxes (round-robin) ── 16 ports ── 16 or 32 banks of 16-byte lines
 *
 * A port and a bank take one access per cycle; a narrow write or an atomic is a read-modify-write that
 * holds both for five cycles.
 *
 * Facts: WormholeB0/TensixTile/L1.md and its diagram (port assignment), MemoryOrdering.md (32 banks on
 * Blackhole). Decided here: line n lies in bank n mod banks; Blackhole's ports are Wormhole's.
 */
#ifndef WG_L1_H
#define WG_L1_H

#include <stdbool.h>
#include <stdint.h>

struct wg_tile;

typedef enum wg_l1_client {
    WG_L1_CORE_B,
    WG_L1_CORE_NC,
    WG_L1_CORE_T0,
    WG_L1_CORE_T1,
    WG_L1_CORE_T2,
    WG_L1_UNPACK0,
    WG_L1_UNPACK1, /* their ports are chosen per access: wg_l1_ask_unpack() */
    WG_L1_UNPACK0_EXPONENTS,
    WG_L1_UNPACK1_EXPONENTS,
    WG_L1_PACK0,
    WG_L1_PACK1,
    WG_L1_PACK2,
    WG_L1_PACK3,
    WG_L1_PACK0_READ,
    WG_L1_SCALAR,
    WG_L1_MOVER_READ,
    WG_L1_MOVER_WRITE,
    WG_L1_TDMA,
    WG_L1_NOC0_WRITE,
    WG_L1_NOC0_READ,
    WG_L1_NOC1_WRITE,
    WG_L1_NOC1_READ,
    WG_L1_HOST, /* takes no port */
    WG_L1_CLIENTS
} wg_l1_client;

typedef enum wg_l1_access { WG_L1_READ, WG_L1_WRITE /* a whole line */, WG_L1_NARROW /* or atomic */ } wg_l1_access;

enum { WG_L1_WATCH_CODE = 0x40 }; /* some instruction cache may hold it */
enum { WG_L1_PORTS = 16, WG_L1_MAX_BANKS = 32, WG_L1_MAX_LINES = 1536 * 1024 / 16 };
enum { WG_L1_CORE_PORT = 2, WG_L1_CORE_PORTS = 2, WG_L1_INPUTS = 4 };
/* The core at each input of the two ports that cores use; WG_CORES: none. */
extern const uint8_t wg_l1_core_at[WG_L1_CORE_PORTS][WG_L1_INPUTS];

typedef struct wg_l1_ports {
    uint64_t port_free[WG_L1_PORTS]; /* first cycle in which it can take an access */
    uint64_t bank_free[WG_L1_MAX_BANKS];
    uint8_t turn[WG_L1_PORTS];      /* round-robin: the input of the port's mux to try first */
    uint8_t watch[WG_L1_MAX_LINES]; /* bit i: core i's L0 may hold the line; WG_L1_WATCH_CODE */
} wg_l1_ports;

/* Line n lies in bank n mod banks; there are 16 or 32. */
static inline unsigned wg_l1_bank(unsigned banks, uint32_t address) { return address / 16 & (banks - 1); }

/* The old contents of a line that a core running ahead wrote. */
enum { WG_L1_UNDO = 1024 };
typedef struct wg_l1_undo {
    uint32_t line;
    uint8_t old[16];
} wg_l1_undo;

/* Contents. Bytes beyond the end read as 0 and swallow writes. */
void wg_l1_read(const struct wg_tile *t, uint32_t address, uint32_t bytes, void *to);
void wg_l1_write(struct wg_tile *t, wg_l1_client client, uint32_t address, uint32_t bytes, const void *from);
/* The same for a client that has put the bytes there itself. */
void wg_l1_wrote(struct wg_tile *t, wg_l1_client client, uint32_t address, uint32_t bytes);
/* Does a write to these bytes, which exist, affect no cache? */
bool wg_l1_unseen(const struct wg_tile *t, uint32_t address, uint32_t bytes);
/* The bytes of one line whose bit is set in `mask`. */
void wg_l1_write_masked(struct wg_tile *t, wg_l1_client client, uint32_t line, uint16_t mask, const uint32_t data[4]);
/* Read-modify-write of an aligned word by a RISC-V funct5; returns the old value. */
uint32_t wg_l1_atomic(struct wg_tile *t, wg_l1_client client, uint32_t address, uint8_t funct5, uint32_t operand);
static inline bool wg_l1_holds(uint32_t l1_bytes, uint32_t address, uint32_t bytes)
{
    return address < l1_bytes && bytes <= l1_bytes - address;
}

/*
 * Time: may `client` use its port and the bank of `address` in the current cycle? If so, both are booked. If not, *retry is
 * the earliest cycle in which a retry can succeed.
 */
bool wg_l1_ask(struct wg_tile *t, wg_l1_client client, uint32_t address, wg_l1_access access, uint64_t *retry);
/* The access that was just granted holds its port and bank for this many cycles. */
void wg_l1_hold(struct wg_tile *t, wg_l1_client client, uint32_t address, uint32_t cycles);
/* The same on a given port: unpackers read through several, the NIUs through two each way. */
/* Of two core ports that want banks for these addresses: does the first give way? */
bool wg_l1_gives_way(const struct wg_tile *t, uint32_t first, uint32_t second);
bool wg_l1_ask_port(struct wg_tile *t, wg_l1_client client, unsigned port, uint32_t address, wg_l1_access access,
                    uint64_t *retry);
unsigned wg_l1_port(wg_l1_client client);
void wg_l1_reset(struct wg_tile *t);

#endif
