/* The file of a listening socket: made where a dead rig may have left one, and recognised later, since anybody who may write to its
 * folder can remove it or put another one there. */
#ifndef HX_SOCKET_FILE_H
#define HX_SOCKET_FILE_H

#include <stdbool.h>
#include <sys/types.h>

struct hx_socket_file {
    dev_t dev;
    ino_t ino;
};

/* Binds the socket fd to folder/name.  0 and *f, or negative errno; -EADDRINUSE: somebody listens there. */
int hx_socket_file_bind(struct hx_socket_file *f, int fd, const char *folder, const char *name);

/* Whether folder/name is still that file.  May be asked at any time; never waits for who serves it. */
bool hx_socket_file_is_there(const struct hx_socket_file *f, const char *folder, const char *name);

/* Removes it, and nothing else that may have its name by now. */
void hx_socket_file_remove(const struct hx_socket_file *f, const char *folder, const char *name);

#endif
