// What HLO text repeats on nearly every line is kept once: texts and shapes.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "program/hlo.h"
#include "program/name_index.h"
#include "program/text_arena.h"

namespace whyoom {

class TextPool {
 public:
  // Keeps texts in `arena`, which must outlive the pool and what it gives.
  explicit TextPool(TextArena& arena) : arena_(arena) {}

  std::string_view Keep(std::string_view text);

 private:
  TextArena& arena_;
  NameIndex index_;
  std::vector<std::string_view> texts_;
};

class ShapeTable {
 public:
  // Adds to `shapes`, which gets a first one, of number 0, for all that is not understood.
  ShapeTable(TextPool& texts, std::vector<HloShape>* shapes);

  // The number of the shape with this text.
  int Number(std::string_view text) { return Number(text, 0); }

  // About the memory that the shapes take besides their text.
  std::size_t bytes() const { return bytes_; }

 private:
  int Number(std::string_view text, int depth);
  HloShape Parse(std::string_view text, int depth);

  TextPool& pool_;
  std::vector<HloShape>* shapes_;
  NameIndex index_;
  std::vector<std::string_view> texts_;  // by number
  std::size_t bytes_ = 0;
};

// Takes out calls by which a computation would call itself. False where there were any.
bool RemoveCycles(HloModule* module);

}  // namespace whyoom
