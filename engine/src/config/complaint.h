/* SPDX-License-Identifier: Apache-2.0 */
/* What was wrong with a request, and where in it: the text of an error reply. */
#ifndef PLIMSOLL_COMPLAINT_H
#define PLIMSOLL_COMPLAINT_H

#include <stdarg.h>
#include <stdio.h>

struct complaint {
    char where[192];
    char message[256];
};

/* Fills in the complaint and returns `status`, so that a function can end with it. */
__attribute__((format(printf, 4, 5))) static inline int
complain(struct complaint *complaint, int status, const char *where, const char *format, ...)
{
    va_list arguments;

    snprintf(complaint->where, sizeof(complaint->where), "%s", where);
    va_start(arguments, format);
    vsnprintf(complaint->message, sizeof(complaint->message), format, arguments);
    va_end(arguments);
    return status;
}

#endif
