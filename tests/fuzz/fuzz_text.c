/* SPDX-License-Identifier: Apache-2.0 */
/* Small inputs of the command line: .npy files, suppressions, delays; the first byte chooses. */
#include <stdlib.h>
#include <string.h>

#include "cli/delays.h"
#include "cli/session.h"
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
    if (wg_delays_parse(copy, &list, &error)) {
        wg_delays_print(list.item, list.count, &text);
        check(!list.count || wg_delays_parse(wg_text_of(&text), &again, &error));
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] % 3 == 0)
        npy(data + 1, size - 1);
    else if (data[0] % 3 == 1)
        suppressions(data + 1, size - 1);
    else
        delays(data + 1, size - 1);
    return 0;
}
