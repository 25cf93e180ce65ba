// A place in an artifact, with what is needed to go on counting lines from there.
#pragma once

#include <cstdint>

namespace whyoom {

struct Cursor {
  std::uint64_t offset = 0;
  std::uint64_t number = 1;      // of the line it is in
  std::uint64_t line_start = 0;  // of that line
};

}  // namespace whyoom
