/* The figures that dspqueue_get_stat() gives. */
#include "hx_dspq.h"

static uint32_t shared(uint32_t *word)
{
    return atomic_load((_Atomic uint32_t *)word);
}

static int stat_in(struct hx_dspq *q, enum dspqueue_stat stat, uint64_t *value)
{
    uint32_t bytes;
    int rc = AEE_SUCCESS;

    pthread_mutex_lock(&q->read_lock);
    switch (stat) {
    case DSPQUEUE_STAT_READ_QUEUE_PACKETS:
        *value = (uint32_t)(shared(&q->in.writer->packet_count) - q->in.count);
        break;
    case DSPQUEUE_STAT_READ_QUEUE_BYTES:
        rc = hx_pktq_bytes_to_read(&q->in, &bytes);
        *value = bytes;
        break;
    case DSPQUEUE_STAT_EARLY_WAKEUP_WAIT_TIME:
        *value = q->wakeup_wait_us;
        q->wakeup_wait_us = 0;
        break;
    case DSPQUEUE_STAT_EARLY_WAKEUP_MISSES:
        *value = q->wakeup_misses;
        q->wakeup_misses = 0;
        break;
    default:
        *value = q->in.count;
        break;
    }
    pthread_mutex_unlock(&q->read_lock);
    return rc;
}

static int stat_out(struct hx_dspq *q, enum dspqueue_stat stat, uint64_t *value)
{
    uint32_t bytes;
    int rc = AEE_SUCCESS;

    pthread_mutex_lock(&q->write_lock);
    if (stat == DSPQUEUE_STAT_WRITE_QUEUE_BYTES) {
        rc = hx_pktq_bytes_written(&q->out, &bytes);
        *value = bytes;
    } else if (stat == DSPQUEUE_STAT_WRITE_QUEUE_PACKETS) {
        *value = (uint32_t)(q->out.count - shared(&q->out.reader->packet_count));
    } else {
        *value = q->out.count;
    }
    pthread_mutex_unlock(&q->write_lock);
    return rc;
}

int hx_dspq_stat(struct hx_dspq *q, enum dspqueue_stat stat, uint64_t *value)
{
    switch ((int)stat) {
    case DSPQUEUE_STAT_READ_QUEUE_PACKETS:
    case DSPQUEUE_STAT_READ_QUEUE_BYTES:
    case DSPQUEUE_STAT_EARLY_WAKEUP_WAIT_TIME:
    case DSPQUEUE_STAT_EARLY_WAKEUP_MISSES:
    case DSPQUEUE_STAT_HEXRIG_PACKETS_READ:
        return stat_in(q, stat, value);
    case DSPQUEUE_STAT_WRITE_QUEUE_PACKETS:
    case DSPQUEUE_STAT_WRITE_QUEUE_BYTES:
    case DSPQUEUE_STAT_HEXRIG_PACKETS_WRITTEN:
        return stat_out(q, stat, value);
    case DSPQUEUE_STAT_SIGNALING_PERF:
        *value = q->doorbells ? DSPQUEUE_SIGNALING_PERF_OPTIMIZED_SIGNALING
                              : DSPQUEUE_SIGNALING_PERF_REDUCED_SIGNALING;
        return AEE_SUCCESS;
    case DSPQUEUE_STAT_HEXRIG_SLEEPS:
        *value = atomic_load(&q->sleeps);
        return AEE_SUCCESS;
    case DSPQUEUE_STAT_HEXRIG_RINGS:
        *value = atomic_load(&q->rings);
        return AEE_SUCCESS;
    default:
        return AEE_EBADPARM;
    }
}
