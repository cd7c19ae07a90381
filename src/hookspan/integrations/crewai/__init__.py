"""crewAI under hookspan: its own dispatcher runs inside ours, its runs are frames."""
