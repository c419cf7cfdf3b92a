/* What became of the faults of a test that runs on both front ends, each of which has a process of its own. */
#ifndef FAULT_COUNT_H
#define FAULT_COUNT_H

extern struct fault_count {
    unsigned survived, lost;
} *fault_count;

/* Runs `run` for each front end, prints the counts, and returns main()'s exit code. */
int fault_count_run(int (*run)(const char *front_end));

#endif
