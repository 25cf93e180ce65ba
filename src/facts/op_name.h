// How frameworks write the names of operations ("jit(step)/transpose(jvp(loss))/rematted_computation/mul"): what their
// transformations put round the user's names. Nowhere else is it said how they write it.
#pragma once

#include <string>
#include <string_view>

namespace whyoom {

// Of the gradient part of a program, forward pass included.
bool IsInGradient(std::string_view op_name);

bool IsDifferentiated(std::string_view op_name);  // a function of which a derivative is taken
bool IsTransposed(std::string_view op_name);      // a linear function the other way round: the backward pass, mostly
bool IsGradient(std::string_view op_name);        // both: the backward pass of reverse mode

bool IsRematted(std::string_view op_name);    // of what the user asked to be computed again
bool IsRecomputed(std::string_view op_name);  // the second time

bool IsMapped(std::string_view op_name);     // done for each of many
bool IsAttention(std::string_view op_name);  // of a scope or an einsum that is named after it

// Without what checkpointing puts between, which names nothing.
std::string WithoutCheckpoints(std::string op_name);

// Of a part between slashes what the wrappers stand round: "decoder" of "transpose(jvp(decoder))".
std::string_view WithoutWrappers(std::string_view part);

// Whether such a part is put there by a transformation or by control flow, no scope of the user's.
bool IsWrapper(std::string_view part);

}  // namespace whyoom
