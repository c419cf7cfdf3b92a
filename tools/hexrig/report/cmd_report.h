/* The actions of hexrig report. */
#ifndef HX_CMD_REPORT_H
#define HX_CMD_REPORT_H

/* As in struct hx_action. */
int hx_cmd_report_timing(int argc, char **argv);
int hx_cmd_report_html(int argc, char **argv);

#endif
