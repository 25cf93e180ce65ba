// Returns the output of Members as text, for comparison.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "fuzz/fuzz.h"
#include "input/members.h"

// Limits allocations: a header may ask for so much memory that the sanitizer spends seconds on it.
// Not inline, so that it replaces the sanitizer's function; a target is one file.
extern "C" const char* __asan_default_options() { return "max_allocation_size_mb=256:allocator_may_return_null=1"; }

namespace whyoom {

// "member: text" for each piece, then each problem.
inline std::string AllOf(std::unique_ptr<ByteSource> source, std::size_t capacity) {
  Limits limits;
  limits.sandbox = false;
  limits.memory = std::size_t{16} << 20U;
  limits.bytes = std::size_t{4} << 20U;
  limits.members = 1000;
  limits.depth = 4;
  std::string all;
  std::uint64_t pieces = 0;
  const auto buffer = std::make_unique<char[]>(capacity);
  Members members({"in", ""}, std::move(source), limits);
  for (Artifact artifact; ByteSource* piece = members.Next(&artifact);) {
    Require(++pieces <= limits.members + 1, "members are limited");
    Require(artifact.path == "in", "a piece belongs to the input");
    all += "\n" + artifact.member + ": ";
    while (const std::size_t got = piece->Read(buffer.get(), capacity)) {
      Require(got <= capacity, "a read returns at most the requested bytes");
      all.append(buffer.get(), got);
    }
    Require(piece->Read(buffer.get(), capacity) == 0, "a read at the end returns nothing");
  }
  for (const Problem& problem : members.TakeProblems()) {
    Require(!problem.what.empty(), "a problem has a message");
    all += "\n! " + problem.member + ": " + problem.what;
  }
  return all;
}

// libarchive may return more or less of a damaged member.
inline void CheckMembers(std::string_view bytes, std::size_t chunk) {
  const auto all = [&](std::size_t most, std::size_t capacity) { return AllOf(OpenMemory(bytes, most), capacity); };
  constexpr std::size_t kRoom = std::size_t{1} << 16U;
  const std::string whole = all(std::string_view::npos, kRoom);
  const std::string in_chunks = all(chunk, 100 + chunk);
  if (whole.find("\n! ") == std::string::npos) {
    Require(whole == in_chunks, "the result depends only on the bytes");
  } else {
    Require(whole == all(std::string_view::npos, kRoom), "a second read gives the same result");
  }
}

}  // namespace whyoom
