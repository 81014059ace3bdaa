/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/abi_gdb.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <waitgate/debug.h>

#include "machine/device.h"

struct wg_abi_gdb {
    wg_grid *grid;
    wg_abi_code code;   /* of no tile */
    int listener, line; /* line: -1 while not connected */
    bool waits;
    wg_debug *d;
    wg_gdb *server;
};

wg_abi_gdb *wg_abi_gdb_begin(wg_grid *grid, const char *text, wg_abi_symbols *symbols, uint16_t *port, char *error,
                             size_t bytes)
{
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    bool waits = strcmp(end, ",wait") == 0;
    if (*text < '0' || *text > '9' || (*end && !waits) || number > UINT16_MAX) {
        snprintf(error, bytes, "it is neither PORT nor PORT,wait");
        return NULL;
    }
    wg_abi_gdb *g = calloc(1, sizeof *g);
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)number), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int one = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener >= 0)
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (!g || listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) < 0 ||
        listen(listener, 1) < 0 || getsockname(listener, (struct sockaddr *)&address, &length) < 0) {
        snprintf(error, bytes, "port %lu: %s", number, g ? strerror(errno) : "out of memory");
        if (listener >= 0)
            close(listener);
        free(g);
        return NULL;
    }
    *g = (wg_abi_gdb){.grid = grid, .code = {symbols, NULL}, .listener = listener, .line = -1, .waits = waits};
    *port = ntohs(address.sin_port);
    return g;
}

/* An idle machine: time advances nevertheless, since the host may act. */
static wg_status pass(void *user, uint64_t cycle, wg_stop *stop)
{
    wg_abi_gdb *g = user;
    *stop = WG_STOP_CYCLES;
    return wg_grid_advance(g->grid, cycle - wg_grid_cycle(g->grid));
}

static void hang_up(wg_abi_gdb *g)
{
    wg_gdb_close(g->server);
    wg_debug_close(g->d);
    if (g->line >= 0)
        close(g->line);
    g->server = NULL;
    g->d = NULL;
    g->line = -1;
}

static bool any_tile(const wg_abi_gdb *g)
{
    for (unsigned y = 0; y < wg_grid_height(g->grid); y++)
        for (unsigned x = 0; x < wg_grid_width(g->grid); x++)
            if (wg_grid_peek(g->grid, x, y))
                return true;
    return false;
}

static void offer(void *server, const char *path, uint32_t address) { wg_gdb_symbols(server, path, address); }

/* gdb reads the symbols of the files that WAITGATE_ELF names, and of what the cores execute at the moment. */
static void offer_symbols(wg_abi_gdb *g)
{
    wg_abi_symbols_named(g->code.symbols, offer, g->server);
    for (unsigned y = 0; y < wg_grid_height(g->grid); y++)
        for (unsigned x = 0; x < wg_grid_width(g->grid); x++) {
            wg_device *dev = wg_grid_peek(g->grid, x, y);
            if (dev && dev->tile->spec->kind == WG_TILE_TENSIX)
                wg_abi_symbols_executed(g->code.symbols, dev, offer, g->server);
        }
}

/* Accepts a connection, once there is a tile to inspect. */
static bool somebody(wg_abi_gdb *g)
{
    struct pollfd knock = {.fd = g->listener, .events = POLLIN};
    static const wg_debug_host host = {.struct_size = sizeof host, .advance = pass};
    int one = 1;
    if (g->server)
        return true;
    if (!any_tile(g) || poll(&knock, 1, g->waits ? -1 : 0) <= 0 ||
        (g->line = accept4(g->listener, NULL, NULL, SOCK_CLOEXEC)) < 0)
        return false;
    g->waits = false;
    setsockopt(g->line, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    /* No history: the host's actions between its calls cannot be replayed. */
    const wg_debug_desc desc = {.struct_size = sizeof desc,
                                .grid = g->grid,
                                .host = &host,
                                .user = g,
                                .source = g->code.symbols ? wg_abi_symbols_source : NULL,
                                .source_user = &g->code};
    if (wg_debug_open(&desc, &g->d) == WG_OK && wg_gdb_open(g->d, g->line, g->line, &g->server) == WG_OK) {
        offer_symbols(g);
        return true;
    }
    hang_up(g);
    return false;
}

bool wg_abi_gdb_advance(wg_abi_gdb *g, uint64_t cycle)
{
    if (!somebody(g))
        return false;
    if (wg_gdb_advance(g->server, cycle))
        return true;
    hang_up(g);
    return false;
}

void wg_abi_gdb_end(wg_abi_gdb *g)
{
    if (!g)
        return;
    hang_up(g);
    close(g->listener);
    free(g);
}
