// What the comparison of two runs reads of one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compare/compare.h"

namespace whyoom {

// A fact in bytes (or another whole number). Arguments and outputs of a report that counts temporaries only are not
// known, whatever it prints.
std::optional<std::int64_t> Bytes(const Run& run, std::string_view name);

// The same of a run that failed, see facts/evidence.h.
bool CountsTemporariesOnly(const Run& run);

// Padding of both, from the same kind of figure where there is one that both have.
TotalChange Padding(const Run& before, const Run& after);

std::string ShapeOf(const Allocation& row);   // without layout
std::string SourceOf(const Allocation& row);  // "train.py:17"; empty: not known

}  // namespace whyoom
