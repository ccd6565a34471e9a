/* SPDX-License-Identifier: Apache-2.0 */
#include "json_text.h"

#include <stdint.h>
#include <string.h>

/* How many bytes a character has that begins with `first`; 0 for none (RFC 3629, section 4). */
static size_t
length_by_first_byte(uint8_t first)
{
    if (first < 0x80)
        return 1;
    if (first >= 0xc2 && first < 0xe0)
        return 2;
    if (first >= 0xe0 && first < 0xf0)
        return 3;
    return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

/* The bounds of the second byte, which exclude overlong forms, surrogates and > U+10FFFF. */
static int
second_byte_fits(uint8_t first, uint8_t second)
{
    const uint8_t lowest = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    const uint8_t highest = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;

    return second >= lowest && second <= highest;
}

/* The length of the character at `text`, of which `bytes` are there; 0 when it is no UTF-8. */
static size_t
character_length(const uint8_t *text, size_t bytes)
{
    const size_t length = length_by_first_byte(text[0]);

    if (length > bytes || (length > 1 && !second_byte_fits(text[0], text[1])))
        return 0;
    for (size_t i = 2; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    }
    return length;
}

void
json_text_write(FILE *out, const char *text, size_t bytes)
{
    const uint8_t *at = (const uint8_t *)text;
    const uint8_t *end = at + strnlen(text, bytes);

    fputc('"', out);
    while (at < end) {
        const size_t length = character_length(at, (size_t)(end - at));

        if (length == 0)
            fputs("\\ufffd", out);
        else if (*at < 0x20 || *at == 0x7f)
            fprintf(out, "\\u%04x", *at);
        else if (*at == '"' || *at == '\\')
            fprintf(out, "\\%c", *at);
        else
            fwrite(at, length, 1, out);
        at += length > 0 ? length : 1;
    }
    fputc('"', out);
}
