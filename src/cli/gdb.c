/* SPDX-License-Identifier: Apache-2.0 */
/* `waitgate gdb`: a server of the gdb remote protocol on a port, or on standard input and output. */
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/debugging.h"
#include "text/core_name.h"

/* The programs of a tile's cores. Kernels that were made independent of their position are elsewhere than their file says. */
static bool add_symbols(wg_gdb *server, const wg_session *s)
{
    char path[PATH_MAX];
    bool ok = true;
    for (unsigned core = 0; s && core < WG_CORES; core++) {
        const wg_elf *elf = s->elf[core];
        if (elf && wg_elf_segments(elf) && realpath(wg_elf_name(elf), path) && !wg_is_chip_file(path))
            ok &= wg_gdb_symbols(server, path, wg_elf_segment_at(elf, 0)->address) == WG_OK;
    }
    return ok;
}

static bool add_all_symbols(wg_gdb *server, const wg_debugging *g)
{
    if (!g->chip)
        return add_symbols(server, &g->s);
    wg_grid *grid = wg_chip_grid(g->chip);
    bool ok = true;
    for (unsigned y = 0; y < wg_grid_height(grid); y++)
        for (unsigned x = 0; x < wg_grid_width(grid); x++)
            ok &= add_symbols(server, wg_chip_session(g->chip, x, y));
    return ok;
}

static bool serve(wg_debugging *g, int in, int out, wg_text *error)
{
    wg_gdb *server;
    if (wg_gdb_open(g->d, in, out, &server) != WG_OK || !add_all_symbols(server, g)) {
        wg_textf(error, "waitgate: out of memory\n");
        wg_gdb_close(server);
        return false;
    }
    wg_gdb_serve(server);
    wg_gdb_close(server);
    return true;
}

static void tell_symbols(void)
{
    fprintf(stderr, "waitgate: with a program's file, as in `gdb-multiarch kernel.elf`, gdb reads the symbols of all "
                    "programs; without "
                    "one, `sharedlibrary` does\n");
}

/* The ELF files, as JSON. */
static void list_symbols(const wg_args *args, wg_json *j)
{
    static const wg_option cores[] = {WG_OPT_BRISC, WG_OPT_NCRISC, WG_OPT_TRISC0, WG_OPT_TRISC1, WG_OPT_TRISC2};
    const size_t options = sizeof cores / sizeof *cores;
    for (size_t i = 0; i < args->files + options; i++) {
        const char *file = i < args->files ? args->file[i] : args->value[cores[i - args->files]];
        if (file && (i >= args->files || wg_core_of_file_name(file) < WG_CORES))
            wg_json_text(j, NULL, file);
    }
}

/* Where a debugger may connect. */
static void tell(const wg_args *args, const struct sockaddr_in *address)
{
    char host[INET_ADDRSTRLEN] = "";
    const unsigned port = ntohs(address->sin_port);
    (void)inet_ntop(AF_INET, &address->sin_addr, host, sizeof host);
    wg_text out = {0};
    wg_json json = {.out = &out}, *j = &json;
    if (!args->value[WG_OPT_JSON]) {
        fprintf(stderr, "waitgate: gdb may connect: target remote %s:%u (Ctrl-C ends this)\n", host, port);
        if (ntohl(address->sin_addr.s_addr) >> 24 != IN_LOOPBACKNET)
            fprintf(stderr, "waitgate: the protocol has no password: whoever reaches this port controls the run\n");
        tell_symbols();
        return;
    }
    wg_json_open(j, NULL, '{');
    wg_json_uint(j, "schema", 1);
    wg_json_text(j, "waitgate", wg_version());
    wg_json_text(j, "host", host);
    wg_json_uint(j, "port", port);
    wg_json_open(j, "symbols", '[');
    list_symbols(args, j);
    wg_json_close(j, ']');
    wg_json_close(j, '}');
    wg_json_one_line(&out);
    fputs(wg_text_of(&out), stdout);
    fflush(stdout);
    wg_text_free(&out);
}

/* "PORT" of the loopback address, or "ADDRESS:PORT". */
static bool parse_address(const char *text, struct sockaddr_in *to)
{
    const char *colon = strrchr(text, ':'), *number = colon ? colon + 1 : text;
    char host[INET_ADDRSTRLEN] = "127.0.0.1";
    uint64_t port;
    if (colon && (size_t)(colon - text) >= sizeof host)
        return false;
    if (colon)
        snprintf(host, sizeof host, "%.*s", (int)(colon - text), text);
    if (!wg_parse_number(number, strlen(number), &port) || port > UINT16_MAX)
        return false;
    *to = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    return inet_pton(AF_INET, host, &to->sin_addr) == 1;
}

enum { LOOK_MILLISECONDS = 100 }; /* between two looks for Ctrl-C, should it come just before a wait */

/* One debugger at a time: after a disconnect, the next may connect. */
static bool serve_port(wg_debugging *g, const wg_args *args, struct sockaddr_in address, wg_text *error)
{
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    if (listener >= 0)
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 1) < 0 ||
        getsockname(listener, (struct sockaddr *)&address, &length) < 0) {
        wg_textf(error, "waitgate: --listen: port %u: %s\n", ntohs(address.sin_port), strerror(errno));
        if (listener >= 0)
            close(listener);
        return false;
    }
    wg_interrupt_begin(); /* first: whoever reads the address may end the server at once */
    tell(args, &address);
    bool ok = true;
    while (ok && !wg_interrupted()) {
        struct pollfd knock = {.fd = listener, .events = POLLIN};
        if (poll(&knock, 1, LOOK_MILLISECONDS) <= 0)
            continue;
        int line = accept(listener, NULL, NULL);
        if (line < 0 && errno == EINTR)
            continue;
        if (line < 0) {
            wg_textf(error, "waitgate: --listen: %s\n", strerror(errno));
            ok = false;
            break;
        }
        setsockopt(line, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        ok = serve(g, line, line, error);
        close(line);
    }
    wg_interrupt_end();
    close(listener);
    return ok;
}

int wg_command_gdb(const wg_args *args, wg_text *out, wg_text *error)
{
    (void)out;
    wg_debugging g;
    struct sockaddr_in address;
    const char *listen_on = args->value[WG_OPT_LISTEN] ? args->value[WG_OPT_LISTEN] : "3333";
    bool stdio = strcmp(listen_on, "stdio") == 0;
    if (!stdio && !parse_address(listen_on, &address)) {
        wg_textf(error, "waitgate: --listen: `%s` is neither a port, ADDRESS:PORT nor `stdio`\n", listen_on);
        return WG_EXIT_ERROR;
    }
    if (stdio && args->value[WG_OPT_JSON]) {
        wg_textf(error, "waitgate: --json: with --listen stdio, standard output is gdb's\n");
        return WG_EXIT_ERROR;
    }
    bool ok = wg_debugging_open(&g, args, stdio ? NULL : wg_debugging_interrupted, error);
    if (ok) {
        signal(SIGPIPE, SIG_IGN);
        if (stdio)
            tell_symbols();
        ok = stdio ? serve(&g, STDIN_FILENO, STDOUT_FILENO, error) : serve_port(&g, args, address, error);
    }
    wg_debugging_close(&g);
    return ok ? WG_EXIT_DONE : WG_EXIT_ERROR;
}
