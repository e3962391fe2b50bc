"""The instance pool. It knows neither web frameworks nor stores."""
