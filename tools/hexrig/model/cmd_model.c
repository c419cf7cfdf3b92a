/* hexrig model: looks into GGUF files, changes their number format, captures what flows through a model, makes models. */
#include "cmd_model.h"

#include "cli/action.h"
#include "cli/cmd.h"

static const struct hx_action list[] = {
    {"inspect", hx_model_cmd_inspect, "shows metadata and tensors"},
    {"convert", hx_model_cmd_convert, "writes the weights in another number format"},
    {"capture", hx_model_cmd_capture, "runs a text and writes what flows through the model"},
    {"rotate", hx_model_cmd_rotate, "writes the same model by other matrices"},
    {"synth", hx_model_cmd_synth, "makes a model whose activations have a property that it is told"},
};

int hx_cmd_model(int argc, char **argv)
{
    static const struct hx_actions actions = {
        .cmd = "model",
        .about = "Works on GGUF model files.",
        .example = "hexrig model inspect --tensors model.gguf",
        .list = list,
        .n = sizeof(list) / sizeof(list[0]),
    };

    return hx_action_run(&actions, argc, argv);
}
