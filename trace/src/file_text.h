/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/*
 * All of a file, with a NUL behind it, to be freed; NULL with errno set when it cannot be read.
 * Files of tracefs and proc do not say their size before they are read.
 */
char *file_text(const char *path, size_t *bytes);
