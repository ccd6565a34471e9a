/* SPDX-License-Identifier: Apache-2.0 */
/* What was wrong with a request, and where in it: the text of an error reply. */
#ifndef PLIMSOLL_ERROR_H
#define PLIMSOLL_ERROR_H

#include <stdarg.h>
#include <stdio.h>

struct error {
    char where[192];
    char message[256];
};

/* Fills in the error and returns `status`, so that a function can end with it. */
__attribute__((format(printf, 4, 5))) static inline int
set_error(struct error *error, int status, const char *where, const char *format, ...)
{
    va_list arguments;

    snprintf(error->where, sizeof(error->where), "%s", where);
    va_start(arguments, format);
    vsnprintf(error->message, sizeof(error->message), format, arguments);
    va_end(arguments);
    return status;
}

#endif
