// Text that is kept for as long as its arena, in a few large blocks: millions of short names cost no allocation each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace whyoom {

class TextArena {
 public:
  TextArena() = default;
  TextArena(const TextArena&) = delete;
  TextArena& operator=(const TextArena&) = delete;

  // A copy of `text` that is valid until the arena goes.
  std::string_view Keep(std::string_view text) {
    if (text.empty()) return {};
    if (text.size() > left_) AddBlock(text.size());
    char* const copy = at_;
    std::memcpy(copy, text.data(), text.size());
    at_ += text.size();
    left_ -= text.size();
    bytes_ += text.size();
    return {copy, text.size()};
  }

  std::size_t bytes() const { return bytes_; }  // of what was kept

 private:
  void AddBlock(std::size_t at_least) {
    left_ = std::max(blocks_.empty() ? kFirstBlock : kBlock, at_least);
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(left_));
    at_ = blocks_.back().get();
  }

  static constexpr std::size_t kFirstBlock = std::size_t{4} << 10;
  static constexpr std::size_t kBlock = std::size_t{1} << 20;
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* at_ = nullptr;
  std::size_t left_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace whyoom
