/* SPDX-License-Identifier: Apache-2.0 */
/* Small inputs of the command line: .npy files, suppressions, delays, saved runs to compare, elements; the first byte chooses. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/session.h"
#include "text/delays.h"
#include "text/types.h"
#include "memory_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool condition)
{
    if (!condition)
        abort();
}

static void npy(const uint8_t *data, size_t size)
{
    uint32_t *singles = NULL;
    size_t rows = 0, columns = 0;
    char error[256] = "";
    if (!wg_npy_read(data, size, &singles, &rows, &columns, error, sizeof error)) {
        check(error[0] != 0);
        return;
    }
    wg_text again = {0};
    uint32_t *copy = NULL;
    size_t rows_again, columns_again;
    wg_npy_write(&again, singles, rows, columns);
    check(
        wg_npy_read((const uint8_t *)again.data, again.size, &copy, &rows_again, &columns_again, error, sizeof error));
    check(rows * columns == rows_again * columns_again);
    check(memcmp(copy, singles, rows * columns * sizeof *copy) == 0);
    free(copy);
    free(singles);
    wg_text_free(&again);
}

static void suppressions(const uint8_t *data, size_t size)
{
    struct wg_suppressions *all = NULL;
    wg_text error = {0};
    const char *path = memory_file(data, size);
    if (path)
        check(wg_suppressions_read(&all, path, &error) != (error.size != 0));
    wg_suppressions_free(all);
    wg_text_free(&error);
}

static void delays(const uint8_t *data, size_t size)
{
    wg_delay_list list = {0}, again = {0};
    wg_text error = {0}, text = {0};
    char *copy = malloc(size + 1);
    if (!copy)
        return;
    memcpy(copy, data, size);
    copy[size] = 0;
    const bool of_chip = strchr(copy, '@') != NULL;
    if (wg_delays_parse(copy, of_chip, &list, &error)) {
        wg_delays_print(list.item, list.count, &text);
        check(!list.count || wg_delays_parse(wg_text_of(&text), of_chip, &again, &error));
        check(list.count == again.count);
    } else {
        check(error.size != 0);
    }
    wg_delays_free(&list);
    wg_delays_free(&again);
    wg_text_free(&error);
    wg_text_free(&text);
    free(copy);
}

/* A saved run against itself, and against a fixed one. */
static void diff(const uint8_t *data, size_t size)
{
    static const char good[] =
        "{\"cycles\": 9, \"cost_profile\": {\"tracks\": [{\"name\": \"B\", \"costs\": [{\"cause\": \"x\", "
        "\"cycles\": 9, \"line\": 3, \"file\": \"a.c\", \"instruction\": \"add\"}]}]}}";
    static char other[64];
    if (!*other) {
        const int file = memfd_create("good", 0);
        check(file >= 0 && write(file, good, sizeof good - 1) == (ssize_t)sizeof good - 1);
        snprintf(other, sizeof other, "/proc/self/fd/%d", file);
    }
    const char *path = memory_file(data, size);
    for (unsigned i = 0; path && i < 4; i++) {
        const char *file[2] = {i & 1 ? other : path, path};
        wg_args args = {.command = WG_CMD_DIFF, .file = file, .files = 2};
        wg_text out = {0}, error = {0};
        args.value[WG_OPT_JSON] = i & 2 ? "" : NULL;
        args.value[WG_OPT_FAIL_ABOVE] = "2%";
        const int status = wg_command_diff(&args, &out, &error);
        check((status == WG_EXIT_ERROR) == (error.size != 0));
        wg_text_free(&out);
        wg_text_free(&error);
    }
}

static void element(const uint8_t *data, size_t size)
{
    wg_text why = {0};
    wg_element found;
    char *place = NULL, *copy = malloc(size + 1), value[32];
    uint8_t memory[WG_ELEMENT_BYTES] = {0};
    unsigned bytes;
    if (!copy)
        return;
    memcpy(copy, data, size);
    copy[size] = 0;
    if (!wg_element_parse(copy, &place, &found, &why)) {
        check(why.size != 0 && !place);
    } else if (place) {
        wg_element_memory(&found, &bytes);
        check(bytes && bytes <= sizeof memory);
        memset(memory, (int)size, sizeof memory);
        wg_element_text(&found, wg_element_bits(&found, memory), value, sizeof value);
    }
    wg_text_free(&why);
    free(place);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    static void (*const kinds[])(const uint8_t *, size_t) = {npy, suppressions, delays, diff, element};
    kinds[data[0] % (sizeof kinds / sizeof *kinds)](data + 1, size - 1);
    return 0;
}
