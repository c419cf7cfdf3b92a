/* What the DSP says: adspmsgd_apps, and apps_std's print_string.  To stderr, line by line, as plain text, which a terminal may show. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "AEEStdErr.h"
#include "adspmsgd_apps.h"
#include "apps_std.h"

/* What a buffer of messages is made of, as in the open library; its texts are the DSP's and may lack their end. */
struct message {
    uint32_t level;
    uint16_t line;
    uint16_t thread;
    char text[218];
    char file[30];
};
_Static_assert(sizeof(struct message) == 256, "message");

static void make_plain(char *text, size_t bytes)
{
    size_t n = strnlen(text, bytes - 1);

    while (n && text[n - 1] == '\n')
        n--;
    text[n] = '\0';
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < ' ' || (unsigned char)*p >= 0x7f)
            *p = '?';
}

int adspmsgd_apps_log(const unsigned char *log_message_buffer, int log_message_bufferLen)
{
    static const char *const levels[] = {"LOW", "MEDIUM", "HIGH", "ERROR", "FATAL"};

    for (struct message m; log_message_bufferLen >= (int)sizeof(m); log_message_bufferLen -= (int)sizeof(m)) {
        memcpy(&m, log_message_buffer, sizeof(m));
        log_message_buffer += sizeof(m);
        make_plain(m.text, sizeof(m.text));
        make_plain(m.file, sizeof(m.file));
        fprintf(stderr, "libcdsprpc: dsp: %s: %s:%u: %s\n",
                m.level < sizeof(levels) / sizeof(levels[0]) ? levels[m.level] : "?", m.file, m.line, m.text);
    }
    return AEE_SUCCESS;
}

int apps_std_print_string(const char *str)
{
    char text[1024];

    snprintf(text, sizeof(text), "%s", str);
    make_plain(text, sizeof(text));
    fprintf(stderr, "libcdsprpc: dsp: %s\n", text);
    return 0;
}
