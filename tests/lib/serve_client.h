/* A server of `hexrig serve` on a free port, and an HTTP client for it that knows just enough: one request per connection,
 * whole replies and event streams.  The client's functions may be called from any thread; they fail by NULL or 0, since
 * cmocka's assertions are for the main thread. */
#ifndef SERVE_CLIENT_H
#define SERVE_CLIENT_H

#include <pthread.h>
#include <strings.h>
#include <sys/socket.h>

#include "e2e.h"

/* --- server */

struct server {
    struct e2e_run run;
    struct hxt_child child;
    int port;
};

/* hexrig serve with space-separated options; returns when it listens. */
void server_start(struct server *s, const char *options, double seconds);

/* Ends it by SIGTERM; the exit code has to be 0. */
void server_stop(struct server *s);

long server_rss_kib(const struct server *s);

int server_entries(const struct server *s, const char *folder);

/* --- client */
int http_connect(int port);

int http_write(int fd, const char *bytes, size_t n);

/* Sends a request; body may be NULL.  Returns the socket, or -1. */
int http_send(int port, const char *method, const char *path, const char *type, const char *body);

struct http_reply {
    int status;
    char *text; /* all of it; owned */
    char *body; /* in text */
};

/* 0: no whole reply came. */
int http_receive(int fd, struct http_reply *r);

/* The reply's JSON; NULL: none came.  *status may be NULL. */
json_t *http_json(int port, const char *method, const char *path, const char *body, int *status);

/* choices[0].MEMBER, also where MEMBER is in a message or delta. */
const char *choice_text(const json_t *j, const char *member);

/* The text that the server makes of a request, in one piece or by events, as the request says; malloc'ed, or NULL. */
char *http_text(int port, const char *path, const char *body);

/* A field of /health, or -1. */
double health(const struct server *s, const char *field);

/* Reads until `what` has come; 0: the connection ended before. */
int http_wait_for(int fd, const char *what);

/* The report of `hexrig run` with the words, in which PROMPT is the prompt. */
json_t *run_json(const char *words, const char *prompt);

/* One of a chat's messages. */
json_t *chat_message(const char *role, const char *text);

/* A schema as a response_format, and one of an object. */
#define AS_SCHEMA(schema) "{\"type\": \"json_schema\", \"json_schema\": {\"name\": \"n\", \"strict\": true, \"schema\": " schema "}}"
#define PERSON "{\"type\": \"object\", \"properties\": {\"name\": {\"type\": \"string\"}, \"age\": {\"type\": \"integer\"}}, " \
               "\"required\": [\"name\", \"age\"], \"additionalProperties\": false}"

#endif
