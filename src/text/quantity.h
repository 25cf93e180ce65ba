// A number with its unit. Sizes are bytes.
//
// Compiler and runtime print base-1024 sizes: "0B", "52.5K", "6.43M", "29.49G", "3.84T", "3.47E"
// (K with one decimal, M and above with two, no "iB"); XLA's open-source parts print "30.64GiB".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace whyoom {

// Bytes of a size as a log prints it: an optional minus, digits (with thousands commas or not), an
// optional fraction, an optional blank, a unit of B, K, M, G, T, P, E, optionally followed by "iB", "i" or "B", or kB,
// or "bytes". A "256." without decimals has its unit behind a blank. A bare whole number is bytes; one with a fraction
// is of a unit that is missing. Rounds to the nearest byte; clamps to the range of int64. nullopt for anything else.
std::optional<std::int64_t> ParseSize(std::string_view text);

// Whether a size stands at the end of `text`, unit and all: no more of it can follow.
bool EndsInUnit(std::string_view text);

// For people: "22.89 GiB", "64.0 KiB", "512 B", "-746.24 MiB". Decimals as the compiler prints them.
std::string FormatSize(std::int64_t bytes);

}  // namespace whyoom
