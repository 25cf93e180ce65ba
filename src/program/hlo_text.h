// Splits HLO text into lines, lists and attributes, which are views of the text. Stores names, shapes and source frames
// once, since nearly every line repeats some.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "program/hlo.h"
#include "program/name_map.h"

namespace whyoom {

// "  ROOT %add.1 = f32[8]{0} add(%x, %y), metadata={…}"
struct InstructionLine {
  bool root = false;
  std::string_view name;        // "add.1"
  std::string_view shape;       // "f32[8]{0}"
  std::string_view opcode;      // "add"
  std::string_view operands;    // "%x, %y"
  std::string_view attributes;  // "metadata={…}"
  bool closed = true;           // false: the line ends within the operands
};

// Whether the line begins an instruction: "  name = ".
bool BeginsInstruction(std::string_view line);

// Returns false unless the line is an instruction at least up to its opening parenthesis.
bool SplitInstruction(std::string_view line, InstructionLine* parts);

// Whether the line begins a computation: "ENTRY %main.1 (p: f32[8]) -> f32[] {".
bool BeginsComputation(std::string_view line, std::string_view* name, bool* entry);

// Splits a list at commas or another separator: operands, elements of a tuple's shape, attributes, fields of metadata.
// Ignores separators within brackets and quotes. Strips blanks around a part and comments before it ("/*index=5*/").
class ListReader {
 public:
  explicit ListReader(std::string_view list, char separator = ',') : rest_(list), separator_(separator) {}

  std::optional<std::string_view> Next();

  std::string_view rest() const { return rest_; }  // the unread part, including the blank before it
  bool closed() const { return closed_; }          // whether all brackets and quotes read so far were closed

 private:
  std::string_view rest_;
  char separator_;
  bool closed_ = true;
};

// An attribute: "key=value".
struct AttributePart {
  std::string_view text;   // "key=value"
  std::string_view key;    // empty if there is no '='
  std::string_view value;  // "{0,1}", "kLoop", "\"Sharding\""
};
AttributePart SplitAttribute(std::string_view text);

// Tracks brackets and quotes across pieces of text.
class Nesting {
 public:
  void Add(std::string_view text);
  bool closed() const { return depth_ <= 0 && !quoted_; }

 private:
  int depth_ = 0;
  bool quoted_ = false;
  bool escaped_ = false;
};

// Whether attribute `key` names computations that the instruction calls: "calls", "body", …; not "condition".
bool CallsComputations(std::string_view key);

// Removes quotes, if there are any: "\"Sharding\"" becomes "Sharding".
std::string_view WithoutQuotes(std::string_view value);

// Removes braces or parentheses, if there are any: "{0,1}" or "(0,1)" becomes "0,1".
std::string_view WithoutBraces(std::string_view value);

class TextPool {
 public:
  // Stores texts in `arena`, which must outlive the pool and the returned views.
  explicit TextPool(TextArena& arena) : arena_(arena) {}

  std::string_view Keep(std::string_view text);

 private:
  TextArena& arena_;
  std::unordered_set<std::string_view, NameHash> texts_;  // the stored copies
};

class ShapeTable {
 public:
  // Appends to `shapes`, beginning with shape 0, which stands for all shapes that are not understood.
  ShapeTable(TextPool& texts, std::vector<HloShape>* shapes) : pool_(texts), shapes_(*shapes) { shapes_.resize(1); }

  // Returns the index of the shape with this text; adds the shape if it is new.
  int Number(std::string_view text, int depth = 0);

  // Approximate memory of the shapes without their text.
  std::size_t bytes() const { return bytes_; }

 private:
  HloShape Parse(std::string_view text, int depth);

  TextPool& pool_;
  std::vector<HloShape>& shapes_;
  NameMap<int> numbers_;
  std::size_t bytes_ = 0;
};

// Reads the tables FileNames, FunctionNames, FileLocations and StackFrames at the top of HLO text. They map a
// stack_frame_id to files and lines.
class SourceTables {
 public:
  // Stores names in `arena`, which must outlive the returned frames.
  explicit SourceTables(TextArena& arena) : arena_(arena) {}

  // Reads a line before the first computation. Returns false unless the line belongs to a table or is blank.
  bool Read(std::string_view line);

  // All frames by number; 0 is no frame. A frame's parent has a smaller number than the frame.
  std::vector<SourceFrame> Frames() const;

  bool whole() const { return whole_; }  // false: some lines were damaged

 private:
  enum Table { kFiles, kFunctions, kLocations, kFrames };
  struct Row {
    std::string_view name;  // of a file
    int file = 0;           // of a location
    int line = 0;
    int location = 0;  // of a frame
    int parent = 0;
  };

  bool ReadRow(std::size_t id, std::string_view text);

  TextArena& arena_;
  std::array<std::vector<Row>, 4> tables_;  // by Table
  std::vector<Row>* open_ = nullptr;
  bool parents_are_high_ = false;
  bool whole_ = true;
};

}  // namespace whyoom
