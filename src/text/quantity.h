// Numbers with units. Sizes are in bytes.
//
// Compiler and runtime print base-1024 sizes: "0B", "52.5K", "6.43M", "29.49G", "3.84T", "3.47E"
// (K with one decimal, M and above with two, no "iB"); XLA's open-source parts print "30.64GiB".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace whyoom {

// Parses a size as logs print it: an optional minus, digits (optionally with thousands commas), an optional fraction,
// an optional blank, a unit of B, K, M, G, T, P, E, optionally followed by "iB", "i" or "B", or kB, or "bytes". "256."
// without decimals must have a blank before its unit. A bare whole number is in bytes; a bare fraction is rejected
// because its unit is missing. Rounds to the nearest byte; clamps to the range of int64. Returns nullopt for anything
// else.
std::optional<std::int64_t> ParseSize(std::string_view text);

// Whether `text` ends with a complete size and its unit.
bool EndsWithUnit(std::string_view text);

// For display: "22.89 GiB", "64.0 KiB", "512 B", "-746.24 MiB", with as many decimals as the compiler prints.
std::string FormatSize(std::int64_t bytes);

}  // namespace whyoom
