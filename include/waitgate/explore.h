/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One program under many legal timings: does its result depend on how long something takes?
 *
 *     device or chip, loaded and its cores released ──wg_explore──► a callback per timing, the device at its end
 *
 * The first timing is the unperturbed run. Then single delays are tried, at both parties of each race and around
 * synchronisation, and then seeds. All of them start from the state in which wg_explore() found the device.
 */
#ifndef WAITGATE_EXPLORE_H
#define WAITGATE_EXPLORE_H

#include <waitgate/chip.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wg_explore_desc {
    uint32_t struct_size;    /* sizeof(wg_explore_desc) */
    uint32_t runs;           /* timings besides the unperturbed one, at most; 0: 1,000 */
    uint64_t first_seed;     /* 0: 1 */
    uint64_t max_cycles;     /* of a run; 0: 20 million, and then 50 times the unperturbed run plus 100,000 */
    uint32_t address, bytes; /* result memory in L1; bytes 0: all of L1 */
} wg_explore_desc;

typedef struct wg_explored {
    size_t number; /* 0: the unperturbed run */
    /* For wg_perturb_with(), to run this timing again; the seed of a chip: for wg_grid_perturb(). */
    uint64_t seed;         /* 0: none */
    const wg_delay *delay; /* a single delay; NULL: none */
    uint64_t cycles;
    wg_stop ended;                /* WG_STOP_CYCLES: at the limit */
    bool memory, findings, stops; /* what differs from the unperturbed run: result memory, findings, how it ended */
    uint8_t x, y;                 /* of a chip: the tile of the single delay */
} wg_explored;

/* The device is at the end of this timing; it may be read, not written. False: no further timings. */
typedef bool (*wg_explored_fn)(void *user, wg_device *dev, const wg_explored *run);

/*
 * On return the device is back in the state in which it was found, without findings. `desc` may be NULL. WG_ERR_STATE: the
 * unperturbed run does not end within its limit.
 */
WG_API wg_status wg_explore(wg_device *dev, const wg_explore_desc *desc, wg_explored_fn fn, void *user);

/*
 * The same for a chip: its tiles that have been used before. Delays are tried at the races between tiles, too. The result memory is
 * that of each of these tiles; the callback may compare more, such as DRAM. Host memory behind the PCI Express tile is not
 * restored between timings.
 */
typedef bool (*wg_grid_explored_fn)(void *user, wg_grid *grid, const wg_explored *run);
WG_API wg_status wg_grid_explore(wg_grid *grid, const wg_explore_desc *desc, wg_grid_explored_fn fn, void *user);

#ifdef __cplusplus
}
#endif
#endif
