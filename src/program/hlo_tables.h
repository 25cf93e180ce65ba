// What HLO text repeats on nearly every line is kept once: texts and shapes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "program/hlo.h"
#include "program/name_index.h"

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

// The tables FileNames, FunctionNames, FileLocations and StackFrames at the head of HLO text, which lead from a
// stack_frame_id to files and lines.
class SourceTables {
 public:
  // Keeps names in `arena`, which must outlive what Frames gives.
  explicit SourceTables(TextArena& arena) : arena_(arena) {}

  // A line before the first computation; false where it belongs to no table and is not blank.
  bool Read(std::string_view line);

  // All frames by number, 0 being none. A frame's parent has a smaller number than the frame itself.
  std::vector<SourceFrame> Frames() const;

  bool whole() const { return whole_; }  // false: lines were damaged

 private:
  struct Location {
    int file = 0;
    int function = 0;
    std::int64_t line = 0;
  };
  struct Frame {
    int location = 0;
    int parent = 0;
  };
  enum class Table { kNone, kFiles, kFunctions, kLocations, kFrames };

  bool ReadRow(int id, std::string_view row);

  TextArena& arena_;
  Table table_ = Table::kNone;
  std::vector<std::string_view> files_;
  std::vector<std::string_view> functions_;
  std::vector<Location> locations_;
  std::vector<Frame> frames_;
  bool parents_are_high_ = false;
  bool whole_ = true;
};

}  // namespace whyoom
