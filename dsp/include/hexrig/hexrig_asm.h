/* What inline assembly of Hexagon sources becomes.
 *
 * The compiler wrappers of share/hexrig/sdk translate an `asm` statement, instruction by instruction, into calls of these functions
 * (docs/sdk.md has the table); nobody else calls them.  An address is a pointer here and a register of 32 bits on the device, which is
 * the same, as all memory of a skel lies below 4 GiB.  The two barriers are the host's own; all else is hexrig-dsp's, takes virtual
 * time and may be called by any thread of a PD.
 *
 * It includes nothing, as it stands in front of each file that the wrappers compile. */
#ifndef HEXRIG_ASM_H
#define HEXRIG_ASM_H

#ifdef __cplusplus
extern "C" {
#endif

/* An operand in a general register, before it becomes an address or a number. */
typedef __UINTPTR_TYPE__ hexrig_asm_word;

/* --- control registers -------------------------------------------------------------------------------------------- */

/* c15:14, UPCYCLE: cycles of the processor's clock, modelled, at the calling thread's virtual time. */
__UINT64_TYPE__ hexrig_asm_upcycle(void);

/* c19:18, PKTCOUNT: packets that the calling thread has been charged. */
__UINT64_TYPE__ hexrig_asm_pktcount(void);

/* c31:30, UTIMER: ticks of the 19.2 MHz timer. */
__UINT64_TYPE__ hexrig_asm_utimer(void);

/* --- waiting ------------------------------------------------------------------------------------------------------ */

/* pause(#cycles): the thread stands still so long, 0..255 cycles.  A loop around it waits for another thread, so the waiting one's
 * virtual time catches up with the others' here. */
void hexrig_asm_pause(unsigned cycles);

/* syncht: all memory accesses before are done before those behind. */
static inline void hexrig_asm_syncht(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* release(Rs):at and :st: what was written before is seen by whoever sees what is written behind.  `line` is not used. */
static inline void hexrig_asm_release(const void *line)
{
    (void)line;
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

/* --- user DMA ------------------------------------------------------------------------------------------------------ */

/* dmstart, dmlink, dmpoll, dmwait, as the intrinsics of hexrig_dma.h, which has the results' bits.  Descriptors may be the device's,
 * or what a compiler for 64 bits makes of a structure that begins with `void *next`: then eight bytes of address, of which the upper
 * four are 0, stand in front of the rest, and addresses are multiples of 8. */
void hexrig_asm_dmstart(void *descriptor);
void hexrig_asm_dmlink(void *tail, void *descriptor);
__UINT32_TYPE__ hexrig_asm_dmpoll(void);
__UINT32_TYPE__ hexrig_asm_dmwait(void);

/* --- HMX, half floats; only with `hmx = 1` in the profile ----------------------------------------------------------------- */

/* mxclracc.hf: the accumulator becomes 0. */
void hexrig_asm_hmx_clear(void);

/* bias = mxmem2(Rs): 256 bytes at `scales`, of which the first 32 words count, one for each column of a tile: half floats, in the lower
 * half the scale, in the upper one the bias. */
void hexrig_asm_hmx_bias(const void *scales);

/* { activation.hf = mxmem(Rs, Rt)[:deep]; weight.hf = mxmem(Rs, Rt) }: the accumulator grows by the product of the tiles at
 * `activation` and `weight`.  A range is the number of bytes less one, 2048 bytes a tile; `deep`: 1 for :deep. */
void hexrig_asm_hmx_multiply(const void *activation, __UINT32_TYPE__ activation_range, int deep, const void *weight,
                             __UINT32_TYPE__ weight_range);

/* mxmem(Rs, Rt):after.hf = acc: the accumulator, scaled and biased, as a tile of half floats; then it is 0.  offset: 0. */
void hexrig_asm_hmx_store(void *tile, __UINT32_TYPE__ offset);

#ifdef __cplusplus
}
#endif

#endif
