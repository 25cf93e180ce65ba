// The tables FileNames, FunctionNames, FileLocations and StackFrames at the head of HLO text, which lead from a
// stack_frame_id to files and lines.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "program/hlo.h"
#include "program/text_arena.h"

namespace whyoom {

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
