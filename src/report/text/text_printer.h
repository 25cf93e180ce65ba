// Prints reports as plain text: the verdict first, then the reasons, then what to do.
#pragma once

#include <cstddef>
#include <string>

#include "diagnose/report.h"
#include "report/document.h"

namespace whyoom {

// How much to print of each failure: the usual first blocks, only its headline, or everything.
enum class Detail { kUsual, kBrief, kAll };

struct TextOptions {
  std::size_t width = 80;  // columns
  std::size_t rows = 0;    // of the terminal, which a single failure should fit; 0: not a terminal
  bool colour = false;     // ANSI colours, the only control characters in the output
  Detail detail = Detail::kUsual;
  bool notes = true;  // also print notes: on unread inputs, unknown errors, or that nothing was found
};

std::string PrintText(const Report& report, const TextOptions& options);

// The first blocks of a failure, with default options.
std::string PrintFailure(const Failure& failure);

// The same in a few long lines of at most 4000 bytes, for an annotation next to a line of code or an alert.
std::string PrintShort(const Failure& failure);

std::string PrintBlocks(const doc::Blocks& blocks, const TextOptions& options);

}  // namespace whyoom
