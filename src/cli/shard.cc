#include "cli/shard.h"

#include <fmt/format.h>

#include <charconv>

#include "input/error.h"
#include "rules/sha256.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

std::optional<std::uint64_t> Number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

}  // namespace

// A digest, not a simple hash: of those, the lowest bits of "rank7/rank7.log" are the same for every rank.
bool Shard::Owns(const std::string& path) const {
  if (count <= 1) return true;
  std::uint64_t hash = 0;
  const std::string digest = Sha256Hex(path);
  std::from_chars(digest.data(), digest.data() + 16, hash, 16);
  return hash % count == index;
}

Shard ParseShard(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::optional<std::uint64_t> index = Number(text.substr(0, slash));
  const std::optional<std::uint64_t> count = slash == text.npos ? std::nullopt : Number(text.substr(slash + 1));
  if (!index || !count || *count == 0)
    throw Error(fmt::format("--shard {}: give I/N, as in 0/16 for the first of 16", Printable(text)));
  if (*index >= *count)
    throw Error(fmt::format("--shard {}: of {} shards the last is {}/{}; they are counted from 0", Printable(text),
                            *count, *count - 1, *count));
  return {*index, *count};
}

}  // namespace whyoom
