#include "sample.h"

#include <re2/re2.h>

#include <map>
#include <string>
#include <vector>

namespace whyoom {
namespace {

using Kind = PatternPiece::Kind;

// What is likeliest to read like a log first.
constexpr std::string_view kCharacters = "ax3B_ -.:/,;=()[]{}<>\"'`#*+|\\@%&!?~$^\n\t7Zq";

std::string Literal(std::string_view source) {
  std::string text;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\\' || i + 1 == source.size()) {
      text += source[i];
      continue;
    }
    const char c = source[++i];
    if (c == 'n') {
      text += '\n';
    } else if (c == 't') {
      text += '\t';
    } else if (c == 'r') {
      text += '\r';
    } else if (c == 'x' && i + 2 < source.size() && source[i + 1] != '{') {
      text += static_cast<char>(std::stoi(std::string(source.substr(i + 1, 2)), nullptr, 16));
      i += 2;
    } else if (c == 'x') {
      const std::size_t end = source.find('}', i);
      const int code = std::stoi(std::string(source.substr(i + 2, end - i - 2)), nullptr, 16);
      if (code < 0x80) {
        text += static_cast<char>(code);
      } else if (code < 0x800) {
        text += {static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 0x3F))};
      } else {
        text += {static_cast<char>(0xE0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 0x3F)),
                 static_cast<char>(0x80 | (code & 0x3F))};
      }
      i = end;
    } else {
      text += c;
    }
  }
  return text;
}

std::string OfClass(const std::string& source, std::mt19937_64* random) {
  const re2::RE2 one(source);
  std::vector<std::string> fitting;
  for (const char c : kCharacters) {
    if (re2::RE2::FullMatch(std::string(1, c), one)) fitting.emplace_back(1, c);
  }
  for (const char* wide : {"…", "—", "“", "”", "’", "│"}) {
    if (fitting.empty() && re2::RE2::FullMatch(wide, one)) fitting.emplace_back(wide);
  }
  if (fitting.empty()) return "";
  return fitting[(*random)() % 3 != 0 ? 0 : (*random)() % fitting.size()];
}

std::string OfCapture(std::string_view source) {
  static const std::map<std::string_view, std::string> kSamples = {
      {"size", "1.50G"},    {"bytes", "1610612736"},  {"integer", "7"}, {"number", "0.9"},
      {"name", "jit_step"}, {"device", "0x0x0_HBM0"}, {"word", "word"}, {"text", "some text"}};
  const auto found = kSamples.find(source.substr(2, source.find(':') - 2));
  return found == kSamples.end() ? "x" : found->second;
}

std::string Repeated(std::string_view pattern, const PatternPiece& piece, std::mt19937_64* random) {
  int times = piece.least;
  if ((piece.most < 0 || piece.most > piece.least) && (*random)() % 3 == 0)
    times += 1 + static_cast<int>((*random)() % 2);
  if (piece.most >= 0) times = std::min(times, piece.most);
  std::string text;
  for (int i = 0; i < times; ++i) text += SamplePiece(pattern, piece, random);
  return text;
}

}  // namespace

std::string SamplePiece(std::string_view pattern, const PatternPiece& piece, std::mt19937_64* random) {
  const std::string source(pattern.substr(piece.begin, piece.end - piece.begin));
  switch (piece.kind) {
    case Kind::kLiteral:
      return Literal(source);
    case Kind::kBlank:
      return " ";
    case Kind::kClass:
      return OfClass(source, random);
    case Kind::kCapture:
      return OfCapture(source);
    case Kind::kAlternation:
      return Repeated(pattern, piece.children[(*random)() % piece.children.size()], random);
    case Kind::kAssertion:
    case Kind::kFlags:
      return "";
    case Kind::kSequence:
    case Kind::kGroup:
      break;
  }
  std::string text;
  for (const PatternPiece& child : piece.children) text += Repeated(pattern, child, random);
  return text;
}

std::optional<std::string> SampleText(std::string_view pattern, std::mt19937_64* random) {
  const std::optional<PatternPiece> whole = ParsePattern(pattern);
  if (!whole) return std::nullopt;
  return Repeated(pattern, *whole, random);
}

}  // namespace whyoom
