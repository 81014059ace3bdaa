/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's side of gather: meshes of two to eight chips. Each side of a chip that has a neighbour gets a tile with a link there.
 *
 *     gather_host bh|wh [FOLDER of the ELF files]
 */
#include "cluster_host.h"

enum { WEST, EAST, NORTH, SOUTH, SIDES, NOBODY = 0xFF, CONFIG = 0x28000, RESULT = 0x20000 };

typedef struct mesh {
    const char *topology;
    unsigned columns, rows;
    unsigned chip[8]; /* by row and column */
} mesh;

/* A channel from one chip to another that is not used yet; *there: its other end. */
static unsigned channel_to(const cluster *c, unsigned from, unsigned to, unsigned used[8], uint8_t *there)
{
    wg_cluster_end peer;
    for (unsigned channel = 0; channel < CLUSTER_CHANNELS; channel++)
        if (!(used[from] >> channel & 1) && cluster_peer(c, from, channel, &peer) && peer.chip == to) {
            used[from] |= 1u << channel;
            used[to] |= 1u << peer.channel;
            *there = (uint8_t)peer.channel;
            return channel;
        }
    host_fail("no link leads from chip %u to chip %u", from, to);
}

static unsigned home_of(const uint8_t channel[SIDES])
{
    unsigned home = 0;
    while (channel[home] == NOBODY)
        home++;
    return home;
}

static void gather_on(const host *h, const mesh *m)
{
    cluster c = cluster_begin(h, m->topology);
    uint8_t channel[8][SIDES];
    unsigned used[8] = {0};
    memset(channel, NOBODY, sizeof channel);
    for (unsigned i = 0; i < c.chips; i++) {
        const bool last_column = i % m->columns == m->columns - 1, last_row = i / m->columns == m->rows - 1;
        for (unsigned k = 0; k < 2; k++) { /* the neighbours to the east and to the south */
            if (k ? last_row : last_column)
                continue;
            const unsigned other = i + (k ? m->columns : 1);
            channel[i][k ? SOUTH : EAST] =
                (uint8_t)channel_to(&c, m->chip[i], m->chip[other], used, &channel[other][k ? NORTH : WEST]);
        }
    }
    for (unsigned i = 0; i < c.chips; i++)
        for (unsigned side = 0; side < SIDES; side++) {
            if (channel[i][side] == NOBODY)
                continue;
            const uint32_t config[] = {side,
                                       i % m->columns,
                                       i / m->columns,
                                       m->columns,
                                       m->rows,
                                       home_of(channel[i]),
                                       channel[i][WEST],
                                       channel[i][EAST],
                                       channel[i][NORTH],
                                       channel[i][SOUTH]};
            wg_device *dev = cluster_eth(&c, m->chip[i], channel[i][side]);
            host_write(dev, CONFIG, config, sizeof config);
            host_load_named(h, dev, WG_CORE_B, "erisc0");
        }
    const uint64_t cycles = cluster_run(&c, 1000000);
    for (unsigned i = 0; i < c.chips; i++) {
        wg_device *dev = cluster_eth(&c, m->chip[i], channel[i][home_of(channel[i])]);
        uint32_t result[8];
        host_no_findings(dev);
        host_read(dev, RESULT, result, sizeof result);
        if (result[0] || result[4] != 0x600D)
            host_fail("chip %u: %u words are wrong", m->chip[i], result[0]);
    }
    printf("%u x %u chips of %s: each has the vectors of all, and their sum; %llu cycles\n", m->rows, m->columns,
           c.topology->what, (unsigned long long)cycles);
    wg_cluster_destroy(c.all);
}

int main(int argc, char **argv)
{
    const host h = host_begin(argc, argv, "gather");
    static const mesh bh[] = {{"p300", 2, 1, {0, 1}}, {"p150x4", 2, 2, {0, 2, 3, 1}}};
    static const mesh wh[] = {
        {"n300", 1, 2, {0, 1}}, {"t3000", 4, 2, {4, 0, 2, 6, 5, 1, 3, 7}}, {"t3000", 2, 4, {4, 5, 0, 1, 2, 3, 6, 7}}};
    for (unsigned i = 0; i < (h.arch == WG_ARCH_WH ? 3 : 2); i++)
        gather_on(&h, h.arch == WG_ARCH_WH ? &wh[i] : &bh[i]);
    return 0;
}
