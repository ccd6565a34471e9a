/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdio.h>

/*
 * Writes `text`, up to `bytes` long or to its first NUL, as a JSON string. What is no UTF-8
 * becomes U+FFFD, a byte at a time: names of processes are whatever their owners chose.
 */
void json_text_write(FILE *out, const char *text, size_t bytes);
