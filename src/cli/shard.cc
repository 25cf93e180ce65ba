#include "cli/shard.h"

#include <fmt/format.h>

#include <charconv>

#include "input/error.h"
#include "rules/sha256.h"
#include "text/numbers.h"
#include "text/utf8.h"

namespace whyoom {

// A digest, not a simple hash: of those, the lowest bits of "rank7/rank7.log" are the same for every rank.
bool Shard::Owns(const std::string& path) const {
  if (count <= 1) return true;
  std::uint64_t hash = 0;
  const std::string digest = Sha256Hex(path);
  std::from_chars(digest.data(), digest.data() + 16, hash, 16);
  return hash % count == index;
}

std::string Shard::Text() const { return fmt::format("{}/{}", index, count); }

Shard ParseShard(std::string_view text) {
  const std::optional<std::pair<std::uint64_t, std::uint64_t>> shard = TwoWholeNumbers(text);
  if (!shard || shard->second == 0)
    throw Error(fmt::format("--shard {}: give I/N, as in 0/16 for the first of 16", Printable(text)));
  const auto& [index, count] = *shard;
  if (index >= count)
    throw Error(fmt::format("--shard {}: of {} shards the last is {}/{}; they are counted from 0", Printable(text),
                            count, count - 1, count));
  return {index, count};
}

}  // namespace whyoom
