#pragma once
// Turns an answer of the script into the bytes of an HTTP response and the steps that send them.
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/chat_request.h"
#include "sim/plan.h"
#include "sim/reply_pieces.h"
#include "sim/script.h"

namespace assay::sim {

// How a simulator's answers name the model: nobody shall take one for a model's.
[[nodiscard]] std::string answering_model(std::string_view requested);

// Requires: a Reply whose `fits_schema` has been resolved into a call.
[[nodiscard]] Plan render(const Answer& answer, const Delivery& delivery, const ChatRequest& request,
                          const RenderingContext& context);

// A plain JSON response.
[[nodiscard]] Plan render_json(int status, std::string body);

}  // namespace assay::sim
