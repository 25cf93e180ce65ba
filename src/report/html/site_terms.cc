#include <array>
#include <string>

#include "report/html/site_parts.h"

namespace whyoom {
namespace {

struct Term {
  const char* id;
  const char* name;
  const char* about;
};

constexpr std::array<Term, 24> kTerms = {{
    {"activations", "activations",
     "What the forward pass computes and the backward pass needs again. They grow with the batch and the length of a "
     "sequence; recomputing them (`jax.checkpoint`) trades memory for time."},
    {"allocation", "allocation", "Memory that is set aside for one array or one temporary, with its padding."},
    {"arguments", "arguments",
     "What a program is called with: batches, parameters, optimizer state. They are there before it runs and, without "
     "donation, after it."},
    {"donation", "donation",
     "The caller gives an argument away, so that a result of the same shape and element type takes over its memory."},
    {"dump", "dump",
     "Files that XLA writes of a program while it compiles it (`--xla_dump_to`). With them what a remedy leaves is "
     "computed on the program itself."},
    {"excess", "excess", "What is needed beyond what there is: the least that has to go."},
    {"fragmentation", "fragmentation",
     "Memory is free, but in pieces that are too small, or gaps that a layout leaves between values."},
    {"hbm", "HBM", "The device's own large memory, next to the chip. 1 GiB is 2 to the 30 bytes."},
    {"host", "host", "The machine that the chips are in; its memory is larger and far away."},
    {"layout", "layout",
     "In which order the dimensions of an array lie in memory, and in which tiles. It decides how much is padding."},
    {"limit", "limit",
     "What programs may use of a chip's memory: less than the chip has, since the system keeps a part."},
    {"logits", "logits", "Scores over all words or classes, before the loss: batch × length × vocabulary."},
    {"micro-batch", "micro-batch",
     "A part of a batch that is computed by itself; gradients are added up, and the weights are updated once."},
    {"optimizer-state", "optimizer state", "What an optimizer remembers of each weight; for Adam twice the weights."},
    {"padding", "padding",
     "What fills a tile up that an array does not fill: a last dimension of 2 takes as much as one of 128."},
    {"peak", "peak", "The moment in the order of a program at which most is live. Only what is live then counts."},
    {"program", "program", "What XLA makes of one jitted function, for one set of shapes."},
    {"rematerialization", "rematerialization",
     "XLA computes a value again instead of keeping it, to stay below the limit."},
    {"scenario", "scenario",
     "Why an error came about, of the few reasons that its code knows; the log's figures tell it."},
    {"sharding", "sharding", "How an array is split over devices. Replicated: each holds all of it."},
    {"sparsecore", "SparseCore and TensorCore", "The parts of a TPU for embeddings and for everything else."},
    {"temporaries", "temporaries",
     "What a program needs while it runs and nobody sees: activations, gradients, scores."},
    {"tile", "tile", "The block that arrays lie in on a TPU, 8 × 128 elements of 4 bytes as a rule."},
    {"vmem", "VMEM", "The chip's small fast memory that kernels compute in; counted in MiB."},
}};

}  // namespace

void AddTerms(HtmlWriter* html) {
  html->Element("p", "The words that reports and remedies are written in.");
  const auto list = html->Block("dl", {{"class", "facts"}});
  for (const Term& term : kTerms) {
    html->Element("dt", term.name, {{"id", term.id}});
    AddAdviceIn("dd", term.about, html);
  }
}

}  // namespace whyoom
