// One of N equal parts of a batch, for jobs that share it (--shard): which part a path belongs to follows from the path
// alone, so that it is the same on every machine, and files that come later move none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace whyoom {

struct Shard {
  std::uint64_t index = 0;  // counted from 0
  std::uint64_t count = 1;

  // Whether the first 8 bytes of the SHA-256 of the path, as it was given or found, leave `index` when divided by
  // `count`.
  bool Owns(const std::string& path) const;

  // "2/16".
  std::string Text() const;
};

// Of "2/16". Throws Error that says what is wrong with anything else.
Shard ParseShard(std::string_view text);

}  // namespace whyoom
