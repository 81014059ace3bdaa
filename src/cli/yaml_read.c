/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/yaml_read.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tasm.h"

wg_chip_mark wg_yaml_mark_of(const yaml_node_t *n)
{
    return (wg_chip_mark){(uint32_t)n->start_mark.line + 1, (uint32_t)n->start_mark.column + 1};
}

static void complain_list(wg_chip_file *file, wg_chip_mark mark, const char *format, va_list args)
{
    char message[400];
    vsnprintf(message, sizeof message, format, args);
    if (file->errors++ < WG_YAML_ERRORS)
        wg_report_error(&file->report, file->name, file->source, file->source_bytes, mark.line, mark.column, message);
}

void wg_chip_complain(wg_chip_file *file, wg_chip_mark mark, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    complain_list(file, mark, format, args);
    va_end(args);
}

bool wg_yaml_complain(wg_yaml *p, const yaml_node_t *n, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    complain_list(p->file, wg_yaml_mark_of(n), format, args);
    va_end(args);
    return false;
}

yaml_node_t *wg_yaml_node(wg_yaml *p, int index) { return yaml_document_get_node(p->document, index); }

void *wg_yaml_grow(wg_yaml *p, void *array, size_t count, size_t size)
{
    if (++p->items > WG_YAML_ITEMS)
        return NULL;
    if (count & (count - 1)) /* full only at powers of two */
        return array;
    void *more = wg_realloc(array, (count ? 2 * count : 1) * size);
    if (!more)
        p->file->out_of_memory = true;
    return more;
}

bool wg_yaml_too_many(wg_yaml *p, const yaml_node_t *n)
{
    return wg_yaml_complain(
        p, n, p->file->out_of_memory ? "out of memory" : "too many items: a chip file has at most %d", WG_YAML_ITEMS);
}

/* ---- Scalars --------------------------------------------------------------------------------------------- */

const char *wg_yaml_scalar(wg_yaml *p, yaml_node_t *n, const char *what)
{
    if (n->type == YAML_SCALAR_NODE && strlen((const char *)n->data.scalar.value) == n->data.scalar.length)
        return (const char *)n->data.scalar.value;
    wg_yaml_complain(p, n, "%s is expected here", what);
    return NULL;
}

bool wg_yaml_number(wg_yaml *p, yaml_node_t *n, uint64_t most, uint64_t *value)
{
    const char *text = wg_yaml_scalar(p, n, "a number");
    if (!text)
        return false;
    if (!wg_parse_number(text, strlen(text), value))
        return wg_yaml_complain(p, n, "`%.60s` is not a number", text);
    if (*value > most)
        return wg_yaml_complain(p, n, "%.60s exceeds 0x%llx, the maximum here", text, (unsigned long long)most);
    return true;
}

bool wg_yaml_choice(wg_yaml *p, yaml_node_t *n, const char *const *choices, unsigned count, unsigned *value)
{
    const char *text = wg_yaml_scalar(p, n, "a word");
    if (!text)
        return false;
    char list[120] = "";
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(text, choices[i]) == 0) {
            *value = i;
            return true;
        }
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", choices[i]);
    }
    return wg_yaml_complain(p, n, "`%.60s` is none of %s", text, list);
}

bool wg_yaml_flag(wg_yaml *p, yaml_node_t *n, bool *value)
{
    static const char *const words[] = {"false", "true"};
    unsigned which = 0;
    if (!wg_yaml_choice(p, n, words, 2, &which))
        return false;
    *value = which;
    return true;
}

/* ---- Mappings -------------------------------------------------------------------------------------------- */

bool wg_yaml_mapping(wg_yaml *p, yaml_node_t *n, const wg_yaml_key *keys, unsigned count, void *into, uint32_t *seen)
{
    bool right = true;
    *seen = 0;
    if (n->type != YAML_MAPPING_NODE)
        return wg_yaml_complain(p, n, "keys and values are expected here, such as `%s: …`", keys[0].name);
    for (yaml_node_pair_t *pair = n->data.mapping.pairs.start; pair < n->data.mapping.pairs.top; pair++) {
        yaml_node_t *k = wg_yaml_node(p, pair->key), *v = wg_yaml_node(p, pair->value);
        const char *name = k && v ? wg_yaml_scalar(p, k, "a key") : NULL;
        if (!name) {
            right = false;
            continue;
        }
        unsigned i = 0;
        wg_near near;
        wg_near_begin(&near, name, strlen(name));
        while (i < count && strcmp(keys[i].name, name) != 0)
            wg_near_offer(&near, keys[i++].name);
        if (i == count) {
            const char *best = wg_near_best(&near);
            right = wg_yaml_complain(p, k, "there is no key `%.60s` here%s%s%s", name, best ? "; did you mean `" : "",
                                     best ? best : "", best ? "`?" : "");
        } else if (*seen >> i & 1) {
            right = wg_yaml_complain(p, k, "`%s` appears here twice", name);
        } else {
            *seen |= 1u << i;
            right = keys[i].read(p, v, into) && right;
        }
    }
    return right;
}
