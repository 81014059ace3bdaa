/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the YAML of chip and cluster files, over libyaml's documents: nodes know their line and column. Every mapping has a
 * table of its keys; an unknown key is an error that names the nearest.
 */
#ifndef WG_YAML_READ_H
#define WG_YAML_READ_H

#include <yaml.h>

#include "cli/chip_yaml.h"

enum { WG_YAML_MAX_ITEMS = 1 << 16 };

typedef struct wg_yaml {
    wg_chip_file *file; /* gets the errors */
    yaml_document_t *document;
    size_t items; /* list items, aliases counted each time: limits what a small file can expand to */
} wg_yaml;

/* Parses the text and calls `root` for its root node; true if all is valid. The document is the file's. */
typedef bool (*wg_yaml_root_fn)(wg_yaml *p, yaml_node_t *root);
bool wg_yaml_parse(wg_chip_file *file, const char *text, size_t bytes, wg_yaml_root_fn root);
/* Does the mapping at the text's root have one of these keys? False for text that is not YAML. */
bool wg_yaml_has_key(const char *text, size_t bytes, const char *const *names, unsigned count);

wg_chip_mark wg_yaml_mark(const yaml_node_t *n);
/* Adds an error at the node; returns false. */
bool wg_yaml_complain(wg_yaml *p, const yaml_node_t *n, const char *format, ...) __attribute__((format(printf, 3, 4)));
yaml_node_t *wg_yaml_node(wg_yaml *p, int index);
/* Makes room for one more element of an array; NULL when memory or the bound is exhausted: then wg_yaml_too_many(). */
void *wg_yaml_grow(wg_yaml *p, void *array, size_t count, size_t size);
bool wg_yaml_too_many(wg_yaml *p, const yaml_node_t *n);

/* Scalars; NULL or false after reporting an error. */
const char *wg_yaml_scalar(wg_yaml *p, yaml_node_t *n, const char *what);
bool wg_yaml_number(wg_yaml *p, yaml_node_t *n, uint64_t most, uint64_t *value);
bool wg_yaml_choice(wg_yaml *p, yaml_node_t *n, const char *const *choices, unsigned count, unsigned *value);
bool wg_yaml_flag(wg_yaml *p, yaml_node_t *n, bool *value);

typedef bool (*wg_yaml_key_fn)(wg_yaml *p, yaml_node_t *n, void *into);
typedef struct wg_yaml_key {
    const char *name;
    wg_yaml_key_fn read;
} wg_yaml_key;
/* Processes each key once, by its function; true if all are valid. Bit i of *seen: key i was there. */
bool wg_yaml_mapping(wg_yaml *p, yaml_node_t *n, const wg_yaml_key *keys, unsigned count, void *into, uint32_t *seen);

/* Keys of memory contents; `into` begins with a wg_chip_image. */
bool wg_yaml_image_file(wg_yaml *p, yaml_node_t *n, void *into);
bool wg_yaml_image_type(wg_yaml *p, yaml_node_t *n, void *into);
bool wg_yaml_image_tilized(wg_yaml *p, yaml_node_t *n, void *into);
bool wg_yaml_image_words(wg_yaml *p, yaml_node_t *n, void *into);

/* Keys that chip and cluster files share; `into` begins with a wg_chip_file. */
bool wg_chip_key_arch(wg_yaml *p, yaml_node_t *n, void *into);
bool wg_chip_key_profile(wg_yaml *p, yaml_node_t *n, void *into);
bool wg_chip_key_seed(wg_yaml *p, yaml_node_t *n, void *into);
bool wg_chip_key_threads(wg_yaml *p, yaml_node_t *n, void *into);
bool wg_chip_key_max_cycles(wg_yaml *p, yaml_node_t *n, void *into);
/* Adds a list of tiles to a chip of a cluster file; wg_chip_settle() follows the last one. */
bool wg_chip_add_tiles(wg_yaml *p, yaml_node_t *n, wg_chip_file *chip);
bool wg_chip_settle(wg_yaml *p, wg_chip_file *chip);

#endif
