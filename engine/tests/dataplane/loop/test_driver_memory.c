/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/loop/driver_memory.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "unit_test.h"

/* Memory as a driver keeps it: marked as gone before it is unmapped. */
struct rings {
    _Atomic bool connected;
    volatile uint8_t *memory;
    size_t bytes;
};

static void
connect_rings(struct rings *rings)
{
    rings->bytes = (size_t)sysconf(_SC_PAGESIZE);
    rings->memory =
        mmap(NULL, rings->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(rings->memory, MAP_FAILED);
    atomic_store_explicit(&rings->connected, true, memory_order_release);
}

static int
unmap_rings(struct rings *rings)
{
    atomic_store_explicit(&rings->connected, false, memory_order_relaxed);
    return munmap((void *)(uintptr_t)rings->memory, rings->bytes);
}

static bool
is_mapped(const struct rings *rings)
{
    if (msync((void *)(uintptr_t)rings->memory, rings->bytes, MS_ASYNC) == 0)
        return true;
    assert_int_equal(errno, ENOMEM);
    return false;
}

struct unmapping {
    struct rings *rings;
    _Atomic bool done;
    int status;
};

static void *
unmap_in_thread(void *argument)
{
    struct unmapping *unmapping = argument;

    unmapping->status = unmap_rings(unmapping->rings);
    atomic_store(&unmapping->done, true);
    return NULL;
}

static void
wait_a_little(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
}

static void
memory_is_unmapped_at_once_without_workers(void **state)
{
    struct rings rings;

    (void)state;
    connect_rings(&rings);
    assert_int_equal(unmap_rings(&rings), 0);
    assert_false(is_mapped(&rings));
}

static void
an_error_is_passed_on(void **state)
{
    (void)state;
    assert_int_equal(munmap((void *)1, 1), -1);
    assert_int_equal(errno, EINVAL);
}

/* This thread is the worker. */
static void
memory_stays_mapped_until_every_worker_was_between_turns(void **state)
{
    struct rings rings;
    struct unmapping unmapping = {.rings = &rings};
    pthread_t thread;

    (void)state;
    connect_rings(&rings);
    driver_memory_enter(0);
    driver_memory_enter(WORKERS_MAX - 1);
    assert_int_equal(pthread_create(&thread, NULL, unmap_in_thread, &unmapping), 0);
    while (atomic_load(&rings.connected))
        wait_a_little();
    for (uint32_t i = 0; i < 5; i++) {
        wait_a_little();
        driver_memory_between_turns(0);
        assert_false(atomic_load(&unmapping.done));
        assert_true(is_mapped(&rings));
    }
    driver_memory_between_turns(WORKERS_MAX - 1);
    pthread_join(thread, NULL);
    assert_int_equal(unmapping.status, 0);
    assert_false(is_mapped(&rings));
    driver_memory_leave(WORKERS_MAX - 1);
    driver_memory_leave(0);
}

static void
a_worker_that_leaves_holds_nothing_up(void **state)
{
    struct rings rings;
    struct unmapping unmapping = {.rings = &rings};
    pthread_t thread;

    (void)state;
    connect_rings(&rings);
    driver_memory_enter(7);
    assert_int_equal(pthread_create(&thread, NULL, unmap_in_thread, &unmapping), 0);
    while (atomic_load(&rings.connected))
        wait_a_little();
    driver_memory_leave(7);
    pthread_join(thread, NULL);
    assert_false(is_mapped(&rings));
}

static void
a_worker_that_unmaps_does_not_wait_for_itself(void **state)
{
    struct rings rings;

    (void)state;
    connect_rings(&rings);
    driver_memory_enter(3);
    assert_int_equal(unmap_rings(&rings), 0);
    assert_false(is_mapped(&rings));
    driver_memory_leave(3);
}

#define TIMES 500

struct polling {
    struct rings rings;
    _Atomic bool stop;
    _Atomic uint32_t bursts;
};

static void *
poll_in_thread(void *argument)
{
    struct polling *polling = argument;
    uint32_t bursts = 0;

    driver_memory_enter(1);
    for (; !atomic_load(&polling->stop); driver_memory_between_turns(1)) {
        if (!atomic_load_explicit(&polling->rings.connected, memory_order_acquire))
            continue;
        for (size_t at = 0; at < polling->rings.bytes; at++)
            polling->rings.memory[at]++;
        atomic_store(&polling->bursts, ++bursts);
    }
    driver_memory_leave(1);
    return NULL;
}

/* Without the wait the worker faults within a few rounds. */
static void
a_polling_worker_never_touches_unmapped_memory(void **state)
{
    const struct timespec moment = {.tv_nsec = 1};
    struct polling polling = {0};
    pthread_t thread;

    (void)state;
    connect_rings(&polling.rings);
    assert_int_equal(pthread_create(&thread, NULL, poll_in_thread, &polling), 0);
    for (uint32_t i = 0; i < TIMES; i++) {
        const uint32_t bursts = atomic_load(&polling.bursts);

        while (atomic_load(&polling.bursts) == bursts)
            nanosleep(&moment, NULL);
        assert_int_equal(unmap_rings(&polling.rings), 0);
        nanosleep(&moment, NULL);
        assert_false(is_mapped(&polling.rings));
        connect_rings(&polling.rings);
    }
    atomic_store(&polling.stop, true);
    pthread_join(thread, NULL);
    assert_int_equal(unmap_rings(&polling.rings), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_unmapped_at_once_without_workers),
        cmocka_unit_test(an_error_is_passed_on),
        cmocka_unit_test(memory_stays_mapped_until_every_worker_was_between_turns),
        cmocka_unit_test(a_worker_that_leaves_holds_nothing_up),
        cmocka_unit_test(a_worker_that_unmaps_does_not_wait_for_itself),
        cmocka_unit_test(a_polling_worker_never_touches_unmapped_memory),
    };

    driver_memory_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
