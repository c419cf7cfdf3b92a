/* Named places that a call passes on its way through client library, driver, root PD and user PD.  A library that is preloaded
 * (LD_PRELOAD) and defines
 *     void hx_stage(const char *name);
 * is called at each of them, in the thread that got there, and may wait there or end the process: tests/fail/stage.c does, for
 * build/tests/test_fault_matrix.  Without such a library a stage is a call, a load and a branch; no variable, option or request
 * turns one on.  A skel cannot define the function: it is looked up once, when the program starts.
 *
 * What may be done inside differs.  Some stages hold a lock of their process (client.map.*, client.queue.*), those of the driver
 * keep its only thread, and those of root PD and user PD run in the sandbox (dsp/pd/sandbox.c), where files are out of reach.
 *
 * | name                  | the thread is about to, or has just ...
 * |-----------------------|-----------------------------------------------------------------------------------------------
 * | client.open.node      | opened the node; no PD is asked for yet
 * | client.open.created   | got a PD; no handle is open in it yet
 * | client.invoke.send    | (send the call: opening and closing a skel and calls of the queue service are calls, too)
 * | client.invoke.reply   | got its reply, which its caller has not seen yet
 * | client.socket.sent    | sent an ioctl's frame, on the socket front end only
 * | client.map.send       | (ask for a MEM_MAP)
 * | client.map.reply      | got its reply, which the table of maps does not show yet
 * | client.unmap.send     | (ask for a MEM_UNMAP)
 * | client.unmap.reply    | got its reply, which the table of maps does not show yet
 * | client.queue.mapped   | mapped a queue's block into the PD; the queue service does not know it yet
 * | client.queue.created  | created the queue at both ends
 * | client.queue.write    | (put a packet into the ring); under the queue's write lock
 * | client.queue.written  | put it there, and not woken the reader
 * | client.queue.read     | taken a packet out of the ring, and not woken the writer; under the queue's read lock
 * | client.queue.close    | (end a queue, which both ends still have)
 * | client.close.node     | (close the node)
 * | driver.mount.asked    | started the mount helper
 * | driver.mount.got      | got the mount's descriptor from it, or not
 * | driver.dsp.forked     | forked the root PD
 * | driver.open.session   | made a session; its opener has no answer yet
 * | driver.create.taken   | taken INIT_CREATE or INIT_ATTACH
 * | driver.create.sent    | put it into the root PD's ring
 * | driver.create.reply   | seen the root PD's reply, and not answered the client
 * | driver.map.taken      | taken MEM_MAP
 * | driver.map.sent       | put it into the user PD's ring
 * | driver.map.reply      | seen the PD's reply, and not answered the client
 * | driver.unmap.taken    | taken MEM_UNMAP
 * | driver.invoke.taken   | taken INVOKE
 * | driver.invoke.sent    | put it into the user PD's ring
 * | driver.invoke.reply   | seen the PD's reply; nothing of it is in the client's memory
 * | driver.invoke.written | written the outputs into the client's memory, and not answered it
 * | driver.close.taken    | been told that the file or connection of a session with a PD is closed
 * | driver.close.sent     | asked the root PD to release the user PD
 * | driver.close.reply    | seen the root PD's reply; the session is still there
 * | root.create.taken     | (fork a user PD)
 * | root.create.forked    | forked it, and not replied
 * | root.release.taken    | (kill a user PD)
 * | root.release.killed   | sent it SIGKILL
 * | root.replied          | put a reply into the ring
 * | pd.started            | been forked
 * | pd.sandboxed          | entered its sandbox; no thread takes requests yet
 * | pd.taken              | taken a request out of the ring
 * | pd.method.call        | (call a method of a skel)
 * | pd.method.returned    | left it
 * | pd.replied            | put the reply into the ring
 * | pd.map.taken          | taken MEM_MAP
 * | pd.map.bound          | mapped the buffer, and not replied
 * | pd.vtcm.granted       | been granted VTCM; under the lock of its table, which all PDs share
 * | pd.queue.create       | (join a queue that the client has made)
 * | pd.queue.destroy      | (leave it)
 * | pd.queue.write, pd.queue.written, pd.queue.read: as the client's */
#ifndef HX_STAGE_H
#define HX_STAGE_H

/* Calls hx_stage(name) if somebody defines it. */
void hx_stage_at(const char *name);

#endif
