/* A user PD of this process has crashed. */
#ifndef HX_CRASH_NOTE_H
#define HX_CRASH_NOTE_H

/* Prints what the rig's node `crashes` says of it on stderr, when the rig's log is a file and the program does not report by itself
 * (hx_rig_connect()).  Any thread; may take as long as the rig takes to answer. */
void hx_crash_note(void);

#endif
