// The parts of HLO text: lines, lists and attributes, which are views of the text, and what the text repeats on nearly
// every line and is kept once: names, shapes and source frames.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
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

// Whether an instruction begins on the line: "  name = ".
bool BeginsInstruction(std::string_view line);

// Returns false if the line is not an instruction up to its opening parenthesis.
bool SplitInstruction(std::string_view line, InstructionLine* parts);

// Whether a computation begins on the line: "ENTRY %main.1 (p: f32[8]) -> f32[] {".
bool BeginsComputation(std::string_view line, std::string_view* name, bool* entry);

// The parts of a list between its commas, or between other separators: operands, elements of a tuple's shape,
// attributes, fields of metadata. Separators within brackets and quotes do not count. Blanks and comments
// ("/*index=5*/") before a part are left out.
class ListReader {
 public:
  explicit ListReader(std::string_view list, char separator = ',') : rest_(list), separator_(separator) {}

  std::optional<std::string_view> Next();

  std::string_view rest() const { return rest_; }  // not read yet, with the blank before it
  bool closed() const { return closed_; }          // after the last part: all brackets and quotes were closed

 private:
  std::string_view rest_;
  char separator_;
  bool closed_ = true;
};

// "key=value" of attributes.
struct AttributePart {
  std::string_view text;   // all of it
  std::string_view key;    // empty if there is no '='
  std::string_view value;  // "{0,1}", "kLoop", "\"Sharding\""
};
AttributePart SplitAttribute(std::string_view text);

// Follows brackets and quotes through text that comes in pieces.
class Nesting {
 public:
  void Add(std::string_view text);
  bool closed() const { return depth_ <= 0 && !quoted_; }

 private:
  int depth_ = 0;
  bool quoted_ = false;
  bool escaped_ = false;
};

// Whether the values of the attribute `key` are computations that the instruction calls: "calls", "to_apply", "body".
bool CallsComputations(std::string_view key);

// "Sharding" of "\"Sharding\""; unquoted text as it is.
std::string_view WithoutQuotes(std::string_view value);

// "0,1" of "{0,1}" or "(0,1)"; other text as it is.
std::string_view WithoutBraces(std::string_view value);

class TextPool {
 public:
  // Keeps texts in `arena`, which must outlive the pool and the returned views.
  explicit TextPool(TextArena& arena) : arena_(arena) {}

  std::string_view Keep(std::string_view text);

 private:
  TextArena& arena_;
  NameMap<const char*> texts_;  // where they are kept
};

class ShapeTable {
 public:
  // Adds to `shapes`, beginning with shape 0, which stands for everything that is not understood.
  ShapeTable(TextPool& texts, std::vector<HloShape>* shapes) : pool_(texts), shapes_(*shapes) { shapes_.resize(1); }

  // The number of the shape with this text.
  int Number(std::string_view text, int depth = 0);

  // About the memory that the shapes need besides their text.
  std::size_t bytes() const { return bytes_; }

 private:
  HloShape Parse(std::string_view text, int depth);

  TextPool& pool_;
  std::vector<HloShape>& shapes_;
  NameMap<int> numbers_;
  std::size_t bytes_ = 0;
};

// Removes calls by which a computation would call itself, directly or through others: of each cycle at least the calls
// of computations that come later in the text. Returns false if there were any.
bool RemoveCycles(HloModule* module);

// The tables FileNames, FunctionNames, FileLocations and StackFrames at the head of HLO text, which lead from a
// stack_frame_id to files and lines.
class SourceTables {
 public:
  // Keeps names in `arena`, which must outlive the returned frames.
  explicit SourceTables(TextArena& arena) : arena_(arena) {}

  // Reads a line before the first computation. Returns false if it belongs to no table and is not blank.
  bool Read(std::string_view line);

  // All frames by number, 0 being none. A frame's parent has a smaller number than the frame itself.
  std::vector<SourceFrame> Frames() const;

  bool whole() const { return whole_; }  // false: lines were damaged

 private:
  enum Table { kFiles, kFunctions, kLocations, kFrames };
  struct Row {
    std::string_view name;  // of a file or function
    int file = 0;           // of a location
    int function = 0;
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
