/* The points, one function each: a behaviour of Linux's fastrpc driver that its clients see.  A function that returns has passed. */
#ifndef CONFORMANCE_POINTS_H
#define CONFORMANCE_POINTS_H

#include <stdbool.h>

/* What a point needs. */
struct setting {
    const char *profile; /* "key = value" lines that the rig's profile gets, or NULL */
    const char *lacking; /* names of the front ends that cannot have it, or NULL ... */
    const char *why;     /* ... and why not */
};

struct point {
    unsigned number;     /* from 1 on, without gaps */
    const char *mirrors; /* the function of drivers/misc/fastrpc.c that does it */
    const char *title;   /* what has to be so; a line of the program, and of docs/conformance.md */
    void (*run)(void);
    const struct setting *setting; /* NULL: any rig, every front end */
};

/* table.c */
extern const struct point points[];
extern const unsigned n_points;

const char *point_profile(const struct point *p);
bool point_lacks(const struct point *p, const char *front_end);

/* Prints the points as docs/conformance.md has them. */
void points_list(void);

/* points_ioctl.c: numbers and errors */
void point_01_ioctl_numbers_and_sizes(void);
void point_02_enotty_for_what_is_not_there(void);
void point_03_eperm_for_handle_1(void);
void point_04_ebusy_when_sessions_are_out(void);
void point_05_econnrefused_for_a_signed_pd_on_the_plain_node(void);
void point_06_einval_for_bad_sizes_flags_and_addresses(void);
void point_07_echrng_and_eoverflow(void);
void point_08_dsp_codes_verbatim(void);
void point_22_efault_for_bad_pointers(void);
void point_23_ebusy_at_the_limit_of_the_profile(void);
void point_24_eopnotsupp_when_the_dsp_does_not_know(void);

/* points_data.c: buffers */
void point_13_overlaps_alias_and_buffers_are_aligned(void);
void point_14_fd_buffers_are_shared_others_copied(void);
void point_15_outputs_are_copied_even_on_error(void);
void point_16_fdlist_gives_maps_back(void);
void point_17_fd_0_is_none_and_a_number_means_its_file(void);
void point_18_540_arguments_and_empty_ones(void);

/* points_map.c: buffers by descriptor */
void point_25_ebadf_of_mem_map(void);
void point_26_ebadf_of_init_create(void);
void point_27_invoke_gives_einval_for_any_descriptor_it_cannot_map(void);
void point_28_what_has_length_0_is_not_mapped(void);
void point_29_einval_of_a_buffer_longer_than_its_dma_buf(void);
void point_30_a_mapped_buffer_is_not_measured_again(void);
void point_31_enomem_of_arguments_that_do_not_fit(void);
void point_32_mem_map_twice_wants_mem_unmap_twice(void);
void point_33_mem_map_passes_flags_and_version_on(void);

/* points_signal.c: calls that are interrupted */
void point_11_a_signal_leaves_the_dsp_running(void);
void point_34_an_interrupted_call_keeps_its_id(void);
void point_35_interrupted_calls_use_up_the_ids(void);
void point_36_sa_restart_sends_the_call_again(void);
void point_37_stop_and_go_send_the_call_again(void);
void point_38_munmap_after_an_interrupted_call(void);
void point_39_errors_give_their_ids_back(void);

/* points_init.c: PDs */
void point_40_init_create_static_on_the_plain_node(void);
void point_41_init_attach(void);
void point_42_calls_before_init_go_to_the_dsp(void);
void point_43_a_second_init_goes_to_the_dsp(void);
void point_44_a_dead_pd_is_the_dsps_to_tell(void);
void point_45_a_domain_is_a_number_and_nothing_more(void);
void point_46_newer_kernels_do_not_look_at_the_domain(void);
void point_47_set_option(void);

/* points_node.c: the node as a file */
void point_48_neither_read_nor_write_nor_mmap(void);
void point_49_poll_says_ready(void);
void point_50_flags_of_open_do_not_count(void);
void point_51_lseek_gives_espipe(void);
void point_52_fstat_tells_a_character_device(void);
void point_53_an_unknown_ioctl_is_not_read(void);
void point_54_the_last_close_releases(void);
void point_55_open_finds_room_after_close(void);
void point_56_an_answer_that_cannot_be_written_gives_efault(void);
void point_57_an_out_buffer_that_cannot_be_written_gives_efault(void);
void point_58_in_buffers_may_be_read_only(void);

/* points_life.c: what happens in between */
void point_09_ssr(void);
void point_10_time_limits(void);
void point_12_255_contexts_for_all_clients(void);
void point_19_threads_share_a_file(void);
void point_20_close_inside_a_call(void);
void point_21_a_fork_shares_the_file(void);

#endif
