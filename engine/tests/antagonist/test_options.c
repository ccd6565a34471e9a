/* SPDX-License-Identifier: Apache-2.0 */
#include "antagonist/options.h"

#include "unit_test.h"

#define WORDS_MAX 12

/* The options of up to 11 words, the rest of which is NULL; why they cannot be read, or NULL. */
static const char *
read_words(char *const given[WORDS_MAX], struct antagonist_options *options)
{
    char *words[WORDS_MAX + 1] = {"plimsoll-antagonist"};
    int count = 1;

    while (given[count - 1] != NULL) {
        words[count] = given[count - 1];
        count++;
    }
    return antagonist_options_read(count, words, options);
}

static void
without_options_one_worker_reads_64_mib_in_order(void **state)
{
    struct antagonist_options options;

    (void)state;
    assert_null(read_words((char *[WORDS_MAX]){NULL}, &options));
    assert_int_equal(options.working_set_bytes, 67108864);
    assert_false(options.random);
    assert_int_equal(options.writes, 0);
    assert_int_equal(options.bytes_per_s, 0);
    assert_int_equal(options.workers, 1);
}

static void
each_option_is_read(void **state)
{
    struct antagonist_options options;

    (void)state;
    assert_null(
        read_words((char *[WORDS_MAX]){"--working-set", "4096", "--access", "random", "--writes",
                                       "128", "--rate", "5000000000", "--workers", "3", NULL},
                   &options));
    assert_int_equal(options.working_set_bytes, 4096);
    assert_true(options.random);
    assert_int_equal(options.writes, 128);
    assert_int_equal(options.bytes_per_s, 5000000000);
    assert_int_equal(options.workers, 3);
}

static void
what_is_wrong_is_said(void **state)
{
    struct antagonist_options options;
    char *const wrong[][2] = {
        {"--working-set", "63"}, {"--working-set", "-1"}, {"--working-set", "64k"},
        {"--working-set", ""},   {"--access", "chaotic"}, {"--writes", "257"},
        {"--rate", " 5"},        {"--rate", "1e9"},       {"--workers", "0"},
        {"--workers", "1025"},   {"--sleep", "1"},        {"--rate", "99999999999999999999"},
    };

    (void)state;
    for (uint32_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_non_null(read_words((char *[WORDS_MAX]){wrong[i][0], wrong[i][1], NULL}, &options));
    assert_non_null(read_words((char *[WORDS_MAX]){"--rate", NULL}, &options));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_options_one_worker_reads_64_mib_in_order),
        cmocka_unit_test(each_option_is_read),
        cmocka_unit_test(what_is_wrong_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
