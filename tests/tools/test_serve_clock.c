/* Protects `hexrig serve` from somebody who sets the time: its patience with clients that send slowly, and the waits of its threads, go
 * by a clock that nobody sets. */
#include <errno.h>
#include <stdatomic.h>

#include "moved_clocks.h"
#include "serve_client.h"

enum { DAY = 86400, HOUR = 3600 };

static int has_ended(void *fd)
{
    char scrap[512];
    ssize_t n = recv(*(int *)fd, scrap, sizeof(scrap), MSG_DONTWAIT);

    return n == 0 || (n < 0 && errno != EAGAIN);
}

/* Half a head, and then nothing: whoever sends it is closed after 10 s of the other clock, which an hour's pause is. */
static void a_slow_client_is_closed_by(const struct server *s, struct hxt_clock *clocks)
{
    static const char half[] = "GET /health HTTP/1.1\r\nHost: he";
    int fd = http_connect(s->port);

    assert_true(fd >= 0 && http_write(fd, half, sizeof(half) - 1));
    assert_true(health(s, "restarts") == 0); /* its turn came before this one's */
    assert_false(has_ended(&fd));
    atomic_fetch_add(&clocks->monotonic_s, HOUR);
    assert_true(hxt_until(has_ended, &fd, 9));
    close(fd);
}

static void test_patience_does_not_depend_on_the_time_of_day(void **state)
{
    static const int64_t set[] = {DAY, -2 * DAY, 3 * DAY};
    struct hxt_clock *clocks = moved_clocks_begin();
    struct server s;

    (void)state;
    assert_non_null(clocks);
    server_start(&s, "--kv f32 --threads 1 --chat chatml", 60);
    moved_clocks_end();
    for (size_t i = 0; i < HXT_LEN(set); i++) {
        atomic_fetch_add(&clocks->realtime_s, set[i]);
        a_slow_client_is_closed_by(&s, clocks);
    }
    server_stop(&s);
    e2e_clean();
    printf("time of day: faults %zu survived, 0 lost\n", HXT_LEN(set));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patience_does_not_depend_on_the_time_of_day),
    };

#ifdef __SANITIZE_ADDRESS__
    hxt_skip_all("the sanitizer has to be loaded first");
#endif
    return HXT_RUN(tests);
}
