/* SPDX-License-Identifier: Apache-2.0 */
/* A stream compressed with zstd, written piece by piece. */
#include "cli/outputs.h"

#ifdef WG_ZSTD
#include <stdlib.h>
#include <zstd.h>

struct wg_packed {
    ZSTD_CStream *stream;
    wg_file_out *to;
    char room[1 << 16];
};

struct wg_packed *wg_packed_new(wg_file_out *to)
{
    struct wg_packed *p = wg_calloc(1, sizeof *p);
    if (p && !(p->stream = ZSTD_createCStream())) {
        free(p);
        return NULL;
    }
    if (p) {
        p->to = to;
        /* Traces repeat themselves so much that any level packs them well; 1 writes 6 % less than -1 and makes
         * the run 4 % longer. */
        ZSTD_CCtx_setParameter(p->stream, ZSTD_c_compressionLevel, -1);
    }
    return p;
}

static bool pack(struct wg_packed *p, ZSTD_inBuffer *in, ZSTD_EndDirective how)
{
    for (;;) {
        ZSTD_outBuffer out = {p->room, sizeof p->room, 0};
        size_t left = ZSTD_compressStream2(p->stream, &out, in, how);
        if (ZSTD_isError(left) || !wg_file_add(p->to, p->room, out.pos))
            return false;
        if (how == ZSTD_e_end ? left == 0 : in->pos == in->size)
            return true;
    }
}

bool wg_packed_add(struct wg_packed *p, const void *bytes, size_t count)
{
    return pack(p, &(ZSTD_inBuffer){bytes, count, 0}, ZSTD_e_continue);
}

bool wg_packed_end(struct wg_packed *p) { return pack(p, &(ZSTD_inBuffer){NULL, 0, 0}, ZSTD_e_end); }

void wg_packed_free(struct wg_packed *p)
{
    if (p)
        ZSTD_freeCStream(p->stream);
    free(p);
}
#else
struct wg_packed *wg_packed_new(wg_file_out *to)
{
    (void)to;
    return NULL;
}
bool wg_packed_add(struct wg_packed *p, const void *bytes, size_t count)
{
    (void)p;
    (void)bytes;
    (void)count;
    return false;
}
bool wg_packed_end(struct wg_packed *p)
{
    (void)p;
    return false;
}
void wg_packed_free(struct wg_packed *p) { (void)p; }
#endif
