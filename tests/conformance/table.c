/* The list of points, see points.h.  Each names the function of Linux's driver that behaves so. */
#include "points.h"

#include <stdio.h>
#include <string.h>

static const struct setting three_sessions = {.profile = "sessions = 3\n"}, no_capabilities = {.profile = "capabilities = 0\n"};
static const struct setting kernel_of_2026 = {.profile = "poll_mode = 1\n"};

static const struct setting no_system_call = {.lacking = "socket", .why = "its client's calls are no system calls on a file"};

static const struct setting no_lseek = {
    .lacking = "socket, cuse", .why = "no file; Linux's CUSE lets lseek() pass and gives 0 itself"};
static const struct setting no_device = {.lacking = "fuse, socket", .why = "FUSE serves regular files; no file"};
static const struct setting no_raw_ioctl = {
    .lacking = "fuse, socket", .why = "FUSE copies the struct before the driver sees the number: EFAULT; the client of a socket has to"};

const struct point points[] = {
    {1, "fastrpc_device_ioctl", "ioctl numbers and struct sizes; another size is another ioctl", point_01_ioctl_numbers_and_sizes, NULL},
    {2, "fastrpc_device_ioctl", "ENOTTY for ioctls 2, 12 and everything unknown", point_02_enotty_for_what_is_not_there, NULL},
    {3, "fastrpc_internal_invoke", "EPERM for handle 1, also before there is a PD; handle 2 is not blocked",
     point_03_eperm_for_handle_1, NULL},
    {4, "fastrpc_session_alloc", "EBUSY when 14 files are open on both nodes together; closing one makes room",
     point_04_ebusy_when_sessions_are_out, NULL},
    {5, "is_session_rejected", "ECONNREFUSED for a signed PD on fastrpc-cdsp",
     point_05_econnrefused_for_a_signed_pd_on_the_plain_node, NULL},
    {6, "fastrpc_req_mmap, fastrpc_req_munmap",
     "EINVAL: filelen over 2 MiB, namelen over 128, MMAP flags and vaddrin, MUNMAP and MEM_UNMAP that match nothing",
     point_06_einval_for_bad_sizes_flags_and_addresses, NULL},
    {7, "fastrpc_get_dsp_info", "ECHRNG for domain 1, 5 and up; EOVERFLOW for attribute 256 and up; attribute 0 is 0",
     point_07_echrng_and_eoverflow, NULL},
    {8, "fastrpc_internal_invoke", "DSP codes come back as they are, without errno; -1..-4095 are an errno",
     point_08_dsp_codes_verbatim, NULL},
    {9, "fastrpc_rpmsg_remove",
     "the root PD is killed: pending calls get EPIPE, opening gives ENOENT for a while, old files stay dead, new ones work",
     point_09_ssr, NULL},
    {10, "fastrpc_internal_invoke",
     "a user's call may take longer than 10 s; the driver's own to a PD ends with ETIMEDOUT after 10 s, its late answer does no "
     "harm, its id stays taken until the file is closed; a root PD that is stopped is a restart: EPIPE",
     point_10_time_limits, NULL},
    {11, "fastrpc_internal_invoke",
     "a signal ends the wait with EINTR, the DSP goes on",
     point_11_a_signal_leaves_the_dsp_running, NULL},
    {12, "fastrpc_context_alloc", "255 calls under way for all clients together, then ENOSPC, for INIT_CREATE too",
     point_12_255_contexts_for_all_clients, NULL},
    {13, "fastrpc_get_buff_overlaps", "overlapping buffers are one memory on the DSP, inline buffers start at multiples of 128",
     point_13_overlaps_alias_and_buffers_are_aligned, NULL},
    {14, "fastrpc_get_args", "buffers with a descriptor are shared while the call runs, others are copies; both are counted",
     point_14_fd_buffers_are_shared_others_copied, NULL},
    {15, "fastrpc_put_args", "out buffers are written even when the result is an error", point_15_outputs_are_copied_even_on_error, NULL},
    {16, "fastrpc_put_args", "DMA handles stay mapped after the call, until the DSP gives them back in the fdlist",
     point_16_fdlist_gives_maps_back, NULL},
    {17, "fastrpc_map_lookup",
     "descriptor 0 means none; a number means the file that it names now, also while an older file of that number is mapped",
     point_17_fd_0_is_none_and_a_number_means_its_file, NULL},
    {18, "fastrpc_invoke", "255 + 255 buffers and 15 + 15 handles in one call; buffers of length 0",
     point_18_540_arguments_and_empty_ones, NULL},
    {19, "fastrpc_internal_invoke", "16 threads on one file, each gets its own bytes; 16 calls inside the DSP at once",
     point_19_threads_share_a_file, NULL},
    {20, "fastrpc_device_release",
     "close() during a call: the call ends well, then the file is released; a client killed inside a call is released",
     point_20_close_inside_a_call, NULL},
    {21, "fastrpc_device_release",
     "a child shares its parent's file; when it dies inside a call, the DSP goes on and the parent's file lives",
     point_21_a_fork_shares_the_file, NULL},
    {22, "fastrpc_invoke", "EFAULT for bad pointers: the struct, the argument list, a buffer", point_22_efault_for_bad_pointers, NULL},
    {23, "fastrpc_cb_probe", "EBUSY at the device tree's number of sessions: the profile's", point_23_ebusy_at_the_limit_of_the_profile,
     &three_sessions},
    {24, "fastrpc_get_info_from_kernel", "EOPNOTSUPP when the firmware does not answer; the refusal is not remembered",
     point_24_eopnotsupp_when_the_dsp_does_not_know, &no_capabilities},
    {25, "fastrpc_map_attach", "MEM_MAP: EBADF for a descriptor that is not open, EINVAL for one that is no dma-buf",
     point_25_ebadf_of_mem_map, NULL},
    {26, "fastrpc_init_create_process",
     "INIT_CREATE: the same for the shell's descriptor, -1 included; EINVAL: the shell is longer than it",
     point_26_ebadf_of_init_create, NULL},
    {27, "fastrpc_create_maps", "INVOKE: EINVAL for every descriptor that cannot be mapped, -2 included",
     point_27_invoke_gives_einval_for_any_descriptor_it_cannot_map, NULL},
    {28, "fastrpc_create_maps", "arguments of length 0 are not mapped, whatever their descriptor", point_28_what_has_length_0_is_not_mapped,
     NULL},
    {29, "fastrpc_map_attach", "EINVAL: a buffer of INVOKE, a DMA handle or a MEM_MAP longer than its dma-buf",
     point_29_einval_of_a_buffer_longer_than_its_dma_buf, NULL},
    {30, "fastrpc_map_create", "a buffer that is mapped already is not measured again: the DSP refuses what lies beyond",
     point_30_a_mapped_buffer_is_not_measured_again, NULL},
    {31, "fastrpc_get_args", "ENOMEM: inline arguments that no memory holds, whatever is at their addresses",
     point_31_enomem_of_arguments_that_do_not_fit, NULL},
    {32, "fastrpc_req_mem_map", "MEM_MAP of a buffer twice wants MEM_UNMAP twice", point_32_mem_map_twice_wants_mem_unmap_twice, NULL},
    {33, "fastrpc_req_mem_map, fastrpc_req_mem_unmap_impl",
     "MEM_MAP looks at neither flags nor version; MEM_UNMAP by a negative number takes any descriptor, and no length",
     point_33_mem_map_passes_flags_and_version_on, NULL},
    {34, "fastrpc_internal_invoke, fastrpc_device_release",
     "the id of an interrupted call stays taken when the DSP has answered, until its file is closed",
     point_34_an_interrupted_call_keeps_its_id,
     NULL},
    {35, "fastrpc_context_alloc", "255 interrupted calls of one file, all answered: ENOSPC for every file, until that one is closed",
     point_35_interrupted_calls_use_up_the_ids, NULL},
    {36, "fastrpc_internal_invoke", "with SA_RESTART the call is sent again: the DSP has it twice",
     point_36_sa_restart_sends_the_call_again,
     &no_system_call},
    {37, "fastrpc_internal_invoke", "SIGSTOP and SIGCONT send the call again, too",
     point_37_stop_and_go_send_the_call_again, &no_system_call},
    {38, "fastrpc_internal_invoke", "an interrupted call strands what MMAP gave before: MUNMAP gives EINVAL",
     point_38_munmap_after_an_interrupted_call, NULL},
    {39, "fastrpc_internal_invoke", "a call that ends with an error gives its id back: 300 of each kind",
     point_39_errors_give_their_ids_back, NULL},
    {40, "fastrpc_init_create_static_process", "INIT_CREATE_STATIC works on fastrpc-cdsp", point_40_init_create_static_on_the_plain_node,
     NULL},
    {41, "fastrpc_init_attach", "INIT_ATTACH and INIT_ATTACH_SNS work on both nodes", point_41_init_attach, NULL},
    {42, "fastrpc_internal_invoke",
     "calls before INIT_* go to the DSP, which refuses them; what the driver would refuse comes first: EPERM, EFAULT, EINVAL",
     point_42_calls_before_init_go_to_the_dsp, NULL},
    {43, "fastrpc_init_create_process, fastrpc_init_attach", "so does a second INIT_*, and the PD that there is goes on",
     point_43_a_second_init_goes_to_the_dsp, NULL},
    {44, "fastrpc_internal_invoke", "that a PD is dead is the DSP's answer; what the driver would refuse comes first",
     point_44_a_dead_pd_is_the_dsps_to_tell, NULL},
    {45, "fastrpc_get_dsp_info", "domains 0, 2 and 4 get the attributes of the node", point_45_a_domain_is_a_number_and_nothing_more, NULL},
    {46, "fastrpc_get_dsp_info", "kernels of 2026 do not look at the domain: no ECHRNG",
     point_46_newer_kernels_do_not_look_at_the_domain, &kernel_of_2026},
    {47, "fastrpc_set_option", "kernels of 2026: SET_OPTION, and EINVAL for other requests and reserved words", point_47_set_option,
     &kernel_of_2026},
    {48, "fastrpc_fops", "read() and write() give EINVAL, a shared mmap() ENODEV", point_48_neither_read_nor_write_nor_mmap,
     &no_system_call},
    {49, "fastrpc_fops", "poll() says ready at once", point_49_poll_says_ready, &no_system_call},
    {50, "fastrpc_device_open", "O_RDONLY, O_WRONLY, O_TRUNC, O_APPEND and O_NONBLOCK make no difference",
     point_50_flags_of_open_do_not_count, &no_system_call},
    {51, "fastrpc_fops", "lseek() gives ESPIPE", point_51_lseek_gives_espipe, &no_lseek},
    {52, "fastrpc_device_register", "fstat() tells a character device", point_52_fstat_tells_a_character_device, &no_device},
    {53, "fastrpc_device_ioctl", "an unknown ioctl gives ENOTTY whatever it points to", point_53_an_unknown_ioctl_is_not_read,
     &no_raw_ioctl},
    {54, "fastrpc_device_release", "the close() of a file's last descriptor releases it", point_54_the_last_close_releases,
     &no_system_call},
    {55, "fastrpc_device_release, fastrpc_session_free",
     "all 14 files open: one is closed and another one opened at once, 60 times, with PDs; EBUSY is for one too many",
     point_55_open_finds_room_after_close, NULL},
    {56, "fastrpc_req_mem_map, fastrpc_req_mmap, fastrpc_get_dsp_info", "EFAULT: the answer cannot be written into the struct",
     point_56_an_answer_that_cannot_be_written_gives_efault, &no_system_call},
    {57, "fastrpc_put_args", "EFAULT: an out buffer cannot be written; the DSP has done the call",
     point_57_an_out_buffer_that_cannot_be_written_gives_efault, &no_system_call},
    {58, "fastrpc_get_args", "in buffers may be read-only", point_58_in_buffers_may_be_read_only, NULL},
};
const unsigned n_points = sizeof(points) / sizeof(points[0]);

const char *point_profile(const struct point *p)
{
    return p->setting ? p->setting->profile : NULL;
}

bool point_lacks(const struct point *p, const char *front_end)
{
    return p->setting && p->setting->lacking && strstr(p->setting->lacking, front_end);
}

static unsigned count(const char *front_end)
{
    unsigned n = n_points;

    for (unsigned i = 0; i < n_points; i++)
        n -= point_lacks(&points[i], front_end);
    return n;
}

static void print_row(const struct point *p)
{
    const struct setting none = {0}, *s = p->setting ? p->setting : &none;

    printf("| %u | %s", p->number, p->title);
    if (s->profile)
        printf(" (profile: `%.*s`)", (int)strcspn(s->profile, "\n"), s->profile);
    printf(" | %s |", p->mirrors);
    if (s->lacking)
        printf(" %s: %s", s->lacking, s->why);
    printf(" |\n");
}

void points_list(void)
{
    printf("| | what has to be so | in fastrpc.c | not on |\n|---|---|---|---|\n");
    for (unsigned i = 0; i < n_points; i++)
        print_row(&points[i]);
    printf("\n%u points: %u on fuse, %u on socket, %u on cuse.\n", n_points, count("fuse"), count("socket"), count("cuse"));
}
